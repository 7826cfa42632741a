'use strict';
// A judge whose replies are recorded, and what people said of the same answers. `node judgements.js FOLDER` writes both.

const fs = require('node:fs');
const path = require('node:path');

const HOSTILE = '</script><img src=x onerror=alert(1)>';
const SYSTEMS = ['north', 'south', `odd ${HOSTILE}`];
const ANSWERS = 60;

/** The judge says what people say, but for every tenth answer. */
const human = number => 1 + (number * 7) % 5;
const judge = number => (number % 10 === 0 ? 6 - human(number) : human(number));

function write(folder) {
  const lines = Array.from({ length: ANSWERS }, (_, number) => JSON.stringify({
    id: `a${number}`, input: `Question ${Math.floor(number / 3)} ${HOSTILE}`, output: `Answer ${number} ${HOSTILE}`,
    system: SYSTEMS[number % SYSTEMS.length], human: human(number),
  }));
  fs.writeFileSync(path.join(folder, 'labelled.jsonl'), `${lines.join('\n')}\n`);
  const replies = Array.from({ length: ANSWERS }, (_, number) => JSON.stringify({ id: `a${number}`, replies: [String(judge(number))] }));
  fs.writeFileSync(path.join(folder, 'replies.jsonl'), `${replies.join('\n')}\n`);
  fs.writeFileSync(path.join(folder, 'judge.yaml'),
    'scorers: [{ type: g_eval, name: remembered, criterion: helpfulness, steps: [read], replies: replies.jsonl }]\n');
}

module.exports = { ANSWERS, SYSTEMS };
if (require.main === module) write(process.argv[2]);
