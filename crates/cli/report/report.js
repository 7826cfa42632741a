'use strict';
// Reads the data and fills the page, section by section; the last of the scripts.

(() => {
  const {
    h, $, known, NONE, int, plural, mean, ms, usd, time, words, total, reasons, shortNames, colour, swatch,
    filterLink, copyButton,
  } = Base;
  const GROUPS_SHOWN = 40;

  const show = (id, ...children) => {
    $(id).append(...children.flat().filter(Boolean));
    $(id).hidden = false;
  };
  const lead = text => h('p', { class: 'lead' }, text);
  /** What stands between backticks is code. */
  const coded = text => text.split('`').map((part, at) => (at % 2 ? h('code', null, part) : part));
  /** A table that scrolls sideways by itself where it does not fit. */
  const scroller = (label, table) => h('div', { class: 'scroller', role: 'region', 'aria-label': label, tabindex: 0 }, table);
  const head = (...names) => h('thead', null, h('tr', null, names.flat().filter(Boolean).map(name =>
    (name instanceof Node ? name : h('th', { scope: 'col' }, name)))));
  const num = text => h('th', { scope: 'col', class: 'num' }, text);
  const GOOD = { completed: 'good', failed: 'bad', cancelled: 'bad' };

  function header(data) {
    const { run, gates, models } = data;
    const name = run.name || 'Untitled run';
    $('title').textContent = name;
    $('title').after(h('span', { class: `badge ${GOOD[run.state] || 'fair'}` }, words(run.state)));
    const started = time(run.created_at);
    const ended = time(run.finished_at);
    const parts = [
      started && ['Started ', started],
      ended ? ['ended ', ended] : started && 'not ended',
      run.id && ['run ', h('code', { title: run.id }, String(run.id).slice(0, 8)), ' ', copyButton(String(run.id), 'the run id')],
      run.repetitions > 1 && `${int(run.repetitions)} repetitions`,
      run.spec_hash && ['specification ', h('code', { title: run.spec_hash }, String(run.spec_hash).slice(0, 8))],
    ].filter(Boolean);
    $('byline').append(...parts.map(part => h('span', null, part)));

    const notes = run.notes || [];
    if (notes.length) {
      $('notes').append(notes.length === 1 ? h('p', null, notes[0]) : h('ul', null, notes.map(note => h('li', null, note))));
      $('notes').hidden = false;
    }

    const figure = (label, main, sub, className) => h('div', { class: className },
      h('dt', null, label), h('dd', null, main), sub && h('dd', { class: 'sub' }, sub));
    const planned = models.reduce((sum, one) => sum + (one.planned || 0), 0);
    const answered = models.reduce((sum, one) => sum + (one.answered || 0), 0);
    const left = models.reduce((sum, one) => sum + (one.remaining || 0), 0);
    const failed = models.reduce((sum, one) => sum + total(one.failures), 0);
    const missed = gates.filter(gate => gate.passed !== true).length;
    const open = gates.filter(gate => gate.passed === true && gate.warning).length;
    const dataset = run.dataset || {};
    $('figures').append(...[
      gates.length > 0 && figure('Gates', missed ? `${int(missed)} of ${int(gates.length)} missed` : 'All passed',
        open ? `${int(open)} cannot tell` : missed ? null : plural(gates.length, 'gate'), missed ? 'bad' : open ? 'fair' : 'good'),
      figure('Answers', int(answered), [`of ${int(planned)} planned`, failed && `${int(failed)} failed`,
        left && `${int(left)} not run`].filter(Boolean).join(', ')),
      figure('Models', int(models.length), plural(data.scorers.length, 'scorer')),
      figure('Cost', usd(run.cost_usd), known(run.cost_usd) && [known(run.scoring_cost_usd) && `${usd(run.scoring_cost_usd)} of it for scoring`,
        run.prices_as_of && `prices as of ${run.prices_as_of}`].filter(Boolean).join(', ')),
      figure('Duration', ms(known(run.seconds) ? run.seconds * 1000 : null)),
      figure('Dataset', h('span', { class: 'path', title: dataset.source }, dataset.source || NONE),
        [`${plural(dataset.cases, 'case')} `, dataset.hash && h('code', { title: dataset.hash }, String(dataset.hash).slice(0, 8))], 'wide'),
    ].filter(Boolean));
  }

  /** Where the gates on a scorer's mean lie, to draw them beside the intervals. */
  function thresholds(gates, scorer, model) {
    return gates.filter(gate => !gate.model || gate.model === model).map(gate => {
      const found = /^\s*(.+?)\.mean\s*[<>]=?\s*([\d.]+)\s*$/.exec(gate.expression || '');
      return found && found[1] === scorer ? Number(found[2]) : null;
    }).filter(at => known(at) && at >= 0 && at <= 1);
  }

  const scoreOf = (model, scorer) => (model.scores || []).find(one => one.scorer === scorer) || {};

  function summary(data, names) {
    const { models, scorers, gates } = data;
    if (!scorers.length) return show('summary', h('p', { class: 'empty' }, 'This run has no scorers: it only collects answers.'));
    const all = models.flatMap(model => model.scores || []);
    const open = all.some(score => total(score.unscored) > 0);
    const methods = [...new Set(all.map(score => score.interval).filter(Boolean))];
    const gated = scorers.some(scorer => models.some(model => thresholds(gates, scorer.name, model.model).length));
    const count = (number, outcome, scorer, model) => h('td', { class: 'num', role: 'cell', 'data-label': outcome },
      number > 0 ? h('a', { href: filterLink({ model: model.model, scorer, outcome }) }, int(number)) : known(number) ? int(number) : NONE);

    const rows = scorers.map(scorer => h('tbody', { role: 'rowgroup' },
      h('tr', { class: 'scorer', role: 'row' }, h('th', { scope: 'rowgroup', role: 'rowheader', colspan: open ? 9 : 7 },
        scorer.name, scorer.kind && scorer.kind !== scorer.name && h('span', { class: 'kind' }, words(scorer.kind)),
        scorer.signature && h('code', { class: 'signature', title: 'What this scorer does, exactly' }, scorer.signature))),
      models.map((model, at) => {
        const score = scoreOf(model, scorer.name);
        const unscored = total(score.unscored);
        const graded = score.scored > 0 && !score.passed && !score.failed;
        return h('tr', { role: 'row' },
          h('th', { scope: 'row', role: 'rowheader', class: 'model', title: model.model }, swatch(at), names[at]),
          h('td', { class: 'chart', role: 'cell' },
            Charts.interval(score, colour(at), { thresholds: thresholds(gates, scorer.name, model.model) })),
          h('td', { class: 'num strong', role: 'cell', 'data-label': 'mean' }, mean(score.mean)),
          h('td', { class: 'num range', role: 'cell', 'data-label': '95%' },
            known(score.low) && known(score.high) ? `${mean(score.low)} – ${mean(score.high)}` : NONE),
          h('td', { class: 'num', role: 'cell', 'data-label': 'n' }, int(score.count)),
          count(graded ? null : score.passed, 'passed', scorer.name, model),
          count(graded ? null : score.failed, 'failed', scorer.name, model),
          open && h('td', { class: 'unscored', role: 'cell', 'data-label': unscored ? 'unscored' : '' }, unscored ? [
            h('a', { href: filterLink({ model: model.model, scorer: scorer.name, outcome: 'unscored' }) }, int(unscored)),
            ' ', h('span', { class: 'why' }, reasons(score.unscored, unscored)),
          ] : h('span', { class: 'why' }, known(score.count) ? 'none' : 'not scored')),
          open && h('td', { class: 'num range', role: 'cell', 'data-label': unscored ? 'possible mean' : '' },
            unscored && known(score.worst_mean) && known(score.best_mean)
              ? `${mean(score.worst_mean)} – ${mean(score.best_mean)}` : ''));
      })));

    const keys = [
      h('span', { class: 'k-dot' }, 'mean'), h('span', { class: 'k-whisker' }, `95% interval${methods.length ? ` (${methods.map(words).join(', ')})` : ''}`),
      open && h('span', { class: 'k-bounds' }, 'possible mean: every unscored one at 0, or at 1'),
      gated && h('span', { class: 'k-gate' }, 'gate'),
    ].filter(Boolean);
    const table = h('table', { class: 'summary', role: 'table', 'aria-labelledby': 'summary-title' },
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' },
        [['Model'], [[h('span', { class: 'sr' }, 'Mean from 0 to 1'), Charts.axis()], 'chart'], ['Mean', 'num'], ['95% interval', 'num'], ['n', 'num'],
          ['Passed', 'num'], ['Failed', 'num'], open && ['Unscored', 'unscored'], open && ['Possible mean', 'num']].filter(Boolean)
          .map(([content, className]) => h('th', { scope: 'col', role: 'columnheader', class: className }, content)))),
      rows);
    show('summary', h('p', { class: 'lead legend' }, keys), data.clustering && lead(coded(data.clustering.sentence)), table);
  }

  /** What was saved by judging less than everything, and what that costs in certainty. */
  function savings(data) {
    if (!data.savings.length) return;
    show('savings', data.savings.map(saving => h('div', { class: 'saving' },
      h('h3', null, saving.title),
      h('ul', null, saving.sentences.map(sentence => h('li', null, sentence))),
      saving.rows.length > 0 && h('div', { class: 'scroll' }, h('table', { class: 'tiers', 'aria-label': saving.title },
        h('thead', null, h('tr', null, saving.header.map((name, at) => h('th', { scope: 'col', class: at ? 'num' : null }, name)))),
        h('tbody', null, saving.rows.map(row => h('tr', null, row.map((cell, at) =>
          at ? h('td', { class: 'num' }, cell) : h('th', { scope: 'row' }, cell))))))))));
  }

  /** A gate in a word and a mark, so that no colour is needed to tell them apart. */
  function gateResult(gate) {
    if (gate.passed === false) return ['failed', '✕', 'missed'];
    if (gate.passed !== true) return ['unscored', '○', 'undecided'];
    return gate.warning ? ['open', '!', 'cannot tell'] : ['passed', '✓', 'passed'];
  }

  function gateList(data) {
    const { gates, models } = data;
    if (!gates.length) return;
    const rank = gate => ['failed', 'unscored', 'open', 'passed'].indexOf(gateResult(gate)[0]);
    const order = [...gates].sort((a, b) => rank(a) - rank(b));
    const compared = gates.flatMap(gate => gate.evidence || []);
    const half = compared.length > 0 && Charts.reach(compared);
    const chart = gate => h('td', { class: 'chart' }, (gate.evidence || []).map(one =>
      Charts.difference(one, half, colour(Math.max(0, models.findIndex(model => model.model === gate.model))))));
    const keys = half && h('p', { class: 'lead legend' }, [
      h('span', { class: 'k-dot' }, 'difference from the baseline'), h('span', { class: 'k-whisker' }, '95% interval'),
      h('span', { class: 'k-gate' }, 'margin'),
    ]);
    show('gates', keys, scroller('Result of every gate', h('table', { class: 'plain gates' },
      head('Result', 'Gate', 'Model', half && h('th', { scope: 'col', class: 'chart' },
        h('span', { class: 'sr' }, 'Difference from the baseline'), Charts.differenceAxis(half)), 'Measured'),
      h('tbody', null, order.map(gate => {
        const [className, mark, word] = gateResult(gate);
        return h('tr', null,
          h('td', null, h('span', { class: `outcome ${className}` }, h('span', { class: 'mark', 'aria-hidden': 'true' }, mark), word)),
          h('th', { scope: 'row' }, h('code', null, gate.expression)),
          h('td', { class: 'model' }, gate.model || 'all models'),
          half && chart(gate),
          h('td', null, gate.warning && h('p', { class: 'warning' }, gate.warning), coded(gate.detail || NONE)));
      })))));
  }

  function distributions(data, names) {
    const { models, scorers } = data;
    const blocks = scorers.map(scorer => {
      const scores = models.map(model => scoreOf(model, scorer.name));
      const histograms = scores.map(score => score.histogram || []);
      const top = Math.max(1, ...histograms.flat());
      if (!scores.some(score => score.count > 0 || total(score.unscored) > 0)) return null;
      // Yes/no scorers say everything with three numbers.
      const twofold = scores.every(score => !score.scored) && histograms.every(counts => counts.slice(1, -1).every(count => !count));
      return h('div', { class: 'distribution' }, h('h3', null, scorer.name), twofold
        ? h('div', { class: 'share-rows' }, models.map((model, at) => {
          const { passed, failed, unscored } = scores[at];
          const left = total(unscored);
          return h('div', { class: 'share-row' },
            h('span', { class: 'model', title: model.model }, swatch(at), names[at]), Charts.shares(scores[at], left),
            h('span', { class: 'why' }, [`${int(passed)} passed`, `${int(failed)} failed`, left && `${int(left)} unscored`].filter(Boolean).join(', ')));
        }))
        : h('div', { class: 'multiples' }, models.map((model, at) => h('figure', null,
          h('figcaption', { title: model.model }, swatch(at), names[at]),
          histograms[at].some(count => count > 0)
            ? Charts.histogram(histograms[at], top, colour(at), `Scores of ${model.model}: median ${mean(scores[at].p50)}, 95th percentile ${mean(scores[at].p95)}`)
            : h('p', { class: 'quiet-text' }, 'nothing scored')))));
    }).filter(Boolean);
    if (blocks.length) show('distributions', models.length > 1 && lead('Within one scorer, all models share a scale.'), ...blocks);
  }

  function resources(data, names) {
    const { models } = data;
    if (!models.length) return;
    const scale = Charts.latencyScale(models.map(model => model.latency_histogram || []));
    const first = models.some(model => model.time_to_first_token_ms);
    const reasoning = models.some(model => model.reasoning_tokens > 0);
    const cell = (...content) => h('td', { class: 'num' }, ...content);
    const small = text => h('span', { class: 'why' }, text);
    show('resources', scroller('Cost and latency per model', h('table', { class: 'plain resources' },
      head('Model', num('Answered'), num('Cost'), num('Tokens in'), num('Tokens out'), num('Median'), num('p95'), num('Slowest'),
        first && num('First token'), scale && h('th', { scope: 'col', class: 'wide' }, 'Latency')),
      h('tbody', null, models.map((model, at) => {
        const latency = model.latency_ms || {};
        const token = model.time_to_first_token_ms;
        const remarks = [reasons(model.failures), model.remaining > 0 && `${int(model.remaining)} not run`,
          model.retries > 0 && plural(model.retries, 'retry', 'retries'),
          model.from_cache > 0 && `${int(model.from_cache)} from the cache`].filter(Boolean).join(', ');
        return h('tr', null,
          h('th', { scope: 'row', class: 'model', title: model.model }, swatch(at), names[at], remarks && small(remarks)),
          cell(`${int(model.answered)} of ${int(model.planned)}`), cell(usd(model.cost_usd)),
          cell(int(model.input_tokens), model.cached_input_tokens > 0 && small(`${int(model.cached_input_tokens)} cached`)),
          cell(int(model.output_tokens), reasoning && model.reasoning_tokens > 0 && small(`${int(model.reasoning_tokens)} reasoning`)),
          cell(ms(latency.p50), known(latency.mean) && small(`mean ${ms(latency.mean)}`)), cell(ms(latency.p95)), cell(ms(latency.max)),
          first && cell(token ? ms(token.p50) : NONE, token && small(`p95 ${ms(token.p95)}`)),
          scale && h('td', { class: 'wide' }, Charts.latency(model.latency_histogram, scale, colour(at),
            `Latency of ${model.model}: median ${ms(latency.p50)}, 95th percentile ${ms(latency.p95)}`)));
      })))));
  }

  function groups(data, names) {
    const { scorers, models } = data;
    if (!data.groups || !data.groups.values.length || !scorers.length) return;
    const { by, values } = data.groups;
    let scorer = scorers[0].name;
    let shown = GROUPS_SHOWN;
    const place = h('div');
    const draw = () => {
      const rest = values.length - shown;
      place.replaceChildren(scroller(`Scores by ${by}`, h('table', { class: 'plain groups' },
        head(by, models.map((model, at) => h('th', { scope: 'col', title: model.model }, swatch(at), names[at]))),
        h('tbody', null, values.slice(0, shown).map(group => h('tr', null,
          h('th', { scope: 'row' }, h('a', { href: filterLink({ field: by, value: group.value }) }, String(group.value))),
          models.map((model, at) => {
            const score = scoreOf((group.models || []).find(one => one.model === model.model) || {}, scorer);
            return h('td', null, h('div', { class: 'group-cell' },
              h('span', { class: 'strong' }, mean(score.mean)), Charts.interval(score, colour(at), { grid: false }),
              h('span', { class: 'why' }, `n ${int(score.count || 0)}`)));
          })))))), ...(rest > 0 ? [h('button', { type: 'button', class: 'more', click: () => { shown = values.length; draw(); } },
        `Show ${int(rest)} more`)] : []));
    };
    const select = h('select', { change: event => { scorer = event.target.value; draw(); } },
      scorers.map(one => h('option', { value: one.name }, one.name)));
    draw();
    show('groups', h('div', { class: 'lead with-control' }, h('span', null, `Means by ${by}, on a scale from 0 to 1.`),
      scorers.length > 1 && h('label', { class: 'inline' }, h('span', null, 'Scorer'), select)), place);
  }

  function explorer(data, names) {
    $('cases').hidden = false;
    const hidden = (data.cases_total || 0) - data.cases.length;
    $('cases-lead').textContent = hidden > 0
      ? `This page holds ${int(data.cases.length)} of ${int(data.cases_total)} results; the other ${int(hidden)} are in the run’s own record.` : '';
    $('cases-lead').hidden = hidden <= 0;
    Explorer.create(data, names).start();
  }

  function chrome() {
    const root = document.documentElement;
    const system = matchMedia('(prefers-color-scheme: dark)');
    const paint = theme => {
      root.dataset.theme = theme;
      $('theme').textContent = theme === 'dark' ? 'Light theme' : 'Dark theme';
    };
    const store = theme => { try { localStorage.setItem('fullbench-theme', theme); } catch (_) { /* storage is off */ } };
    paint(root.dataset.theme || 'light');
    $('theme').addEventListener('click', () => { paint(root.dataset.theme === 'dark' ? 'light' : 'dark'); store(root.dataset.theme); });
    system.addEventListener('change', () => {
      let chosen = null;
      try { chosen = localStorage.getItem('fullbench-theme'); } catch (_) { /* storage is off */ }
      if (!chosen) paint(system.matches ? 'dark' : 'light');
    });
    // Jumps leave the hash alone: it holds the filters.
    document.addEventListener('click', event => {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      const { jump } = link.dataset;
      if (jump) event.preventDefault();
      if (!jump && link.hash !== location.hash) return;
      $(jump || 'cases').scrollIntoView();
      const title = $(`${jump || 'cases'}-title`);
      if (title) title.focus({ preventScroll: true });
    });
  }

  function start() {
    chrome();
    let data;
    try {
      data = JSON.parse($('data').textContent);
      for (const list of ['scorers', 'models', 'savings', 'gates', 'cases']) data[list] = data[list] || [];
      data.run = data.run || {};
    } catch (error) {
      $('trouble').textContent = `The data in this page cannot be read: ${error.message}`;
      $('trouble').hidden = false;
      return;
    }
    const names = shortNames(data.models.map(model => String(model.model)));
    for (const part of [header, summary, savings, gateList, distributions, resources, groups, explorer]) part(data, names);
    for (const section of document.querySelectorAll('main > section:not([hidden])')) {
      $('sections').append(h('a', { href: '#', 'data-jump': section.id }, section.querySelector('h2').textContent));
    }
    $('footer').append('Made by Fullbench ', String(data.version || ''), ...(time(data.generated_at) ? [', ', time(data.generated_at)] : []),
      '. This page is complete in itself and loads nothing from anywhere.');
  }

  start();
})();
