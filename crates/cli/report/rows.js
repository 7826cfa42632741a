'use strict';
// What one result looks like: its row in the table and, when opened, its detail.

const Rows = (() => {
  const { h, NONE, int, value, ms, usd, words, swatch, copyButton, marked, filterLink } = Base;
  const PREVIEW = 160;
  const LONG = 6000; // characters of one text shown before asking
  const SHORTENED = 3000;
  const WIDE = 4; // scorers that still get a column each
  const MARKS = { __proto__: null, passed: '✓', failed: '✕', scored: '•', unscored: '○', not_sampled: '·' };

  const squeeze = text => text.replace(/\s+/g, ' ').trim();

  /** The start of a text, or the part around what was searched for. */
  function preview(text, query) {
    let from = 0;
    if (query) {
      const at = text.slice(0, 200000).toLowerCase().indexOf(query);
      if (at > 48) from = at - 24;
    }
    // Most inputs are one question: «user:» before each says nothing.
    if (from === 0 && text.startsWith('user: ')) from = 6;
    const part = squeeze(text.slice(from, from + PREVIEW));
    return marked((from > 6 ? '… ' : '') + part, query && squeeze(query));
  }

  const outcomeWords = score => {
    if (!score) return 'not scored yet';
    if (score.o === 'unscored') return score.r ? words(score.r) : 'unscored';
    return words(score.o);
  };
  const outcomeClass = score => (score && Object.keys(MARKS).includes(score.o) ? score.o : 'pending');

  function create(data, names) {
    const { scorers, models } = data;
    const repeated = data.cases.some(one => one.rep > 0) || (data.run.repetitions || 1) > 1;
    const apart = scorers.length <= WIDE;

    /** As wide as the longest of these texts, within limits. */
    const fitting = (texts, least, most) =>
      `${Base.clamp(texts.reduce((all, text) => Math.max(all, text.length), 0) * 0.5 + 2.75, least, most)}rem`;

    /** Columns: what they hold, how they sort and which way first. */
    const columns = [
      { name: 'Case', sort: 'key', first: 1, className: 'c-key', width: fitting(data.cases.map(one => String(one.key)), 6, 9) },
      models.length > 1 && { name: 'Model', className: 'c-model', width: fitting(names, 7, 13) },
      repeated && { name: 'Rep.', label: 'Repetition', className: 'c-rep', width: '3.5rem' },
      { name: 'Input', className: 'c-input', width: 'minmax(0, 1fr)' },
      { name: 'Output', className: 'c-output', width: 'minmax(0, 1.15fr)' },
      ...(apart
        ? scorers.map((scorer, at) => ({ name: scorer.name, sort: `score:${scorer.name}`, first: 1, className: 'c-score', width: '8rem', scorer: at }))
        : [{ name: 'Scores', label: 'Mean of the scores', sort: 'mean', first: 1, className: 'c-scores', width: `${Math.min(14, scorers.length) * 1.25 + 1.25}rem` }]),
      { name: 'Latency', sort: 'latency', first: -1, className: 'c-latency', width: '5.75rem' },
      { name: 'Cost', sort: 'cost', first: -1, className: 'c-cost', width: '6rem' },
    ].filter(Boolean);

    function chip(score, scorer) {
      const shown = score && Base.known(score.v) ? value(Math.round(score.v * 100) / 100) : outcomeWords(score);
      return h('span', { class: `outcome ${outcomeClass(score)}`, title: `${scorer.name}: ${outcomeWords(score)}` },
        h('span', { class: 'mark', 'aria-hidden': 'true' }, (score && MARKS[score.o]) || '…'),
        h('span', { class: 'sr' }, `${outcomeWords(score)} `), h('span', { class: 'words' }, shown));
    }

    /** A square for one of many scores; a value without a threshold fills it from below. */
    function pip(score, scorer) {
      const told = `${scorer.name}: ${outcomeWords(score)}${score && Base.known(score.v) ? ` ${value(score.v)}` : ''}`;
      const filled = score && score.o === 'scored' && Base.known(score.v);
      return h('span', { class: `pip ${outcomeClass(score)}`, title: told, style: filled && `--v:${Math.round(score.v * 100)}%` },
        h('span', { 'aria-hidden': 'true' }, filled ? '\u00a0' : (score && MARKS[score.o]) || '…'),
        h('span', { class: 'sr' }, `${told}. `));
    }

    function row(id, at, query) {
      const one = data.cases[id];
      const scores = one.scores || [];
      const cell = (className, ...children) => h('td', { class: className, role: 'cell' }, ...children);
      return h('tr', { class: 'case', role: 'row', 'data-id': id, 'aria-rowindex': at + 2 },
        h('th', { scope: 'row', role: 'rowheader', class: 'c-key' },
          h('button', { type: 'button', class: 'key', 'aria-expanded': 'false', title: one.key },
            h('span', { class: 'label' }, marked(String(one.key), query)))),
        models.length > 1 && h('td', { class: 'c-model', role: 'cell', title: models[one.m].model },
          swatch(one.m), names[one.m]),
        repeated && cell('c-rep', h('span', { class: 'only-narrow' }, 'rep. '), int(one.rep + 1)),
        cell('c-input', preview(one.input || '', query)),
        one.failure
          ? cell('c-output none', `${words(one.failure.reason)}: ${squeeze((one.failure.message || '').slice(0, PREVIEW))}`)
          : one.output === null || one.output === undefined
            ? cell('c-output none', 'no answer')
            : one.output === '' ? cell('c-output none', 'empty answer') : cell('c-output', preview(one.output, query)),
        apart
          ? scorers.map((scorer, index) => h('td', { class: 'c-score', role: 'cell', 'data-label': scorer.name }, chip(scores[index], scorer)))
          : cell('c-scores', scorers.map((scorer, index) => pip(scores[index], scorer))),
        cell('c-latency', ms(one.latency_ms)),
        cell('c-cost', usd(one.cost_usd, NONE)));
    }

    /** One text in full; a very long one only after asking, unless the search points into it. */
    function text(title, content, query) {
      const block = h('pre', { class: 'text' });
      const deep = query && content.toLowerCase().indexOf(query, SHORTENED - query.length) >= 0;
      const long = content.length > LONG && !deep;
      block.append(...marked(long ? content.slice(0, SHORTENED) : content, query));
      const more = long && h('button', { type: 'button', class: 'more' }, `Show all ${int(content.length)} characters`);
      if (more) {
        more.addEventListener('click', () => {
          block.replaceChildren(...marked(content, query));
          more.remove();
        });
      }
      return h('section', { class: 'block' },
        h('div', { class: 'block-title' }, h('h3', null, title), copyButton(content, title.toLowerCase())),
        block, more);
    }

    const plain = (title, className, ...children) => h('section', { class: 'block' },
      h('h3', null, title), h('p', { class: className }, ...children));

    function detail(id, query) {
      const one = data.cases[id];
      const scores = one.scores || [];
      const references = one.references || [];
      const metadata = Object.entries(one.metadata || {});
      const fact = (name, content) => h('div', null, h('dt', null, name), h('dd', null, content));
      const others = models.length > 1 || repeated;
      return h('tr', { class: 'detail', role: 'row', 'data-id': id },
        h('td', { colspan: columns.length, role: 'cell' },
          scorers.length > 0 && h('section', { class: 'block' }, h('h3', null, 'Scores'),
            h('ul', { class: 'verdicts' }, scorers.map((scorer, at) => {
              const score = scores[at];
              return h('li', null,
                h('span', { class: 'verdict-name' }, scorer.name),
                h('span', { class: 'verdict-value' }, score && Base.known(score.v) ? value(score.v) : NONE),
                h('span', { class: `outcome ${outcomeClass(score)}` },
                  h('span', { class: 'mark', 'aria-hidden': 'true' }, (score && MARKS[score.o]) || '…'),
                  score && score.o === 'unscored' ? `unscored: ${outcomeWords(score)}` : outcomeWords(score)),
                h('span', { class: 'why' }, (score && score.why) || ''),
                score && score.evidence && h('dl', { class: 'evidence' }, score.evidence.map(line =>
                  h('div', null, h('dt', null, line.label), h('dd', null, line.text)))));
            }))),
          h('div', { class: 'texts' },
            h('div', null, text('Input', one.input || '', query), references.map((reference, at) =>
              text(references.length > 1 ? `Reference ${at + 1} of ${references.length}` : 'Reference', String(reference), query))),
            h('div', null, one.failure && plain('No answer', 'failure', h('strong', null, words(one.failure.reason)), ' ', one.failure.message || ''),
              one.output ? text('Output', one.output, query)
                : one.output === '' ? plain('Output', 'quiet-text', 'The answer is empty.')
                  : !one.failure && plain('Output', 'quiet-text', 'No answer yet.'))),
          h('dl', { class: 'facts' },
            fact('Model', models[one.m] ? models[one.m].model : NONE),
            repeated && fact('Repetition', int(one.rep + 1)),
            fact('Latency', one.cached ? `${ms(one.latency_ms)} (from the cache)` : ms(one.latency_ms)),
            fact('Cost', usd(one.cost_usd)),
            one.finish && fact('Finished by', words(one.finish)),
            metadata.map(([field, content]) => fact(field, Rows.metaText(content)))),
          others && h('p', { class: 'others' },
            h('a', { href: filterLink({ key: one.key }) }, 'All answers to this case'))));
    }

    return { columns, row, detail };
  }

  const metaText = content => (typeof content === 'string' ? content : JSON.stringify(content));

  return { create, metaText, MARKS };
})();
