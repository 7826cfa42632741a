'use strict';
// The evaluation that the browser tests look at: recorded answers, so that every number is known beforehand.
// `node evaluation.js FOLDER` writes it; the tests take their expectations from the same constants.

const fs = require('node:fs');
const path = require('node:path');

const CASES = 2500;
const MODELS = ['alpha', 'beta', 'gamma', 'delta'];
const SCORERS = ['exact_match', 'shares', 'brief'];
const THREADS = 499; // groups of about five cases, spread over the file
const MARGIN = 0.001; // less than so many cases can tell
const CATEGORIES = ['billing', 'shipping', 'returns', 'accounts'];

// Text that would run, load or be filled in, if the page took it for anything but text.
const HOSTILE = '</script><img src=x onerror=alert(1)>';
const TEMPLATE = '{{title}} {{data}}';
const NAME = `browser test ${HOSTILE} {{title}}`;
const HOSTILE_OUTPUT = [
  `<b>bold</b> ${HOSTILE}`,
  `  ${TEMPLATE} <!-- <script>alert(2)</script>`,
  '\t"quotes" \'and\' \\backslashes\\ &amp; größe 🙂 \u2028 end',
].join('\n');
const HOSTILE_CATEGORY = `other ${HOSTILE}`;

const HOSTILE_CASE = 1234; // its answer by the first model is the hostile one
const NEEDLE_CASE = 777; // the only one whose input has the needle
const NEEDLE = 'Where is the Xylophone-Quartz order?';
const NO_REFERENCE = 3; // of every 250
const NO_ANSWER = 7; // of every 500, by the last model

const key = number => `case-${String(number).padStart(4, '0')}`;

function testCase(number) {
  const right = `answer ${number}`;
  const answers = {};
  MODELS.forEach((model, at) => {
    // The later the model, the more often it is wrong; what it adds differs in length.
    const wrong = number % (10 - 2 * at) === 0;
    answers[model] = wrong ? `no idea, ${'really '.repeat(at + 1)}none` : right;
  });
  if (number % 500 === NO_ANSWER) delete answers[MODELS.at(-1)];
  if (number === HOSTILE_CASE) answers[MODELS[0]] = HOSTILE_OUTPUT;
  const written = {
    id: key(number),
    input: number === NEEDLE_CASE ? NEEDLE : `Question ${number}: what is asked in number ${number}?`,
    reference: right,
    thread: number % THREADS,
    category: number === HOSTILE_CASE ? HOSTILE_CATEGORY : CATEGORIES[number % CATEGORIES.length],
    answers,
  };
  if (number === HOSTILE_CASE) written.input = `${HOSTILE} ${TEMPLATE}`;
  if (number % 250 === NO_REFERENCE) delete written.reference;
  return written;
}

function write(folder) {
  const lines = Array.from({ length: CASES }, (_, number) => JSON.stringify(testCase(number)));
  fs.writeFileSync(path.join(folder, 'cases.jsonl'), `${lines.join('\n')}\n`);
  // Before, the second model was as the third is now; the others were as they are.
  const earlier = name => (name === MODELS[1] ? MODELS[2] : name);
  const evaluation = (models, more) => JSON.stringify({ // JSON is YAML
    name: NAME,
    dataset: 'cases.jsonl',
    metadata: ['category'],
    statistics: { group: 'thread' },
    models,
    scorers: [
      SCORERS[0],
      { type: 'regex', name: SCORERS[1], patterns: ['^answer', '\\d', 'a'], mode: 'share' },
      { type: 'length', name: SCORERS[2], max: 24 },
    ],
    ...more,
  }, null, 2);
  const recorded = answers => MODELS.map(name => ({ name, provider: 'recorded', field: `answers.${answers(name)}` }));
  fs.writeFileSync(path.join(folder, 'baseline.yaml'), evaluation(recorded(earlier)));
  fs.writeFileSync(path.join(folder, 'fullbench.yaml'), evaluation(recorded(name => name), {
    gates: [`no_regression(${SCORERS[0]}, baseline: "main", margin: ${MARGIN})`, `${SCORERS[0]}.mean > 0.1`],
  }));
}

module.exports = {
  CASES, MODELS, SCORERS, THREADS, MARGIN, NAME, HOSTILE, HOSTILE_OUTPUT, HOSTILE_CATEGORY, HOSTILE_CASE, NEEDLE, NEEDLE_CASE, key, testCase,
};

if (require.main === module) write(process.argv[2]);
