'use strict';
// The report card of a judge: findings, plots and tables. Data becomes text nodes and attributes only.

(() => {
  const { h, svg, $, known, clamp, int, time, words, colour, swatch, copyButton } = Base;
  const STATES = { good: 'good', watch: 'watch', poor: 'poor', not_measured: 'not measured' };
  const WIDE = 400;
  const HIGH = 300;
  const PAD = { left: 38, right: 12, top: 8, bottom: 34 };

  const show = (id, ...children) => {
    $(id).append(...children.flat().filter(Boolean));
    $(id).hidden = false;
  };
  const line = (x1, y1, x2, y2, className) => svg('line', { x1, y1, x2, y2, class: className });
  const text = (x, y, anchor, words_, className) => svg('text', { x, y, 'text-anchor': anchor, class: className }, words_);
  /** What stands between backticks is code. */
  const coded = sentence => sentence.split('`').map((part, at) => (at % 2 ? h('code', null, part) : part));
  const short = value => String(Math.round(value * 1000) / 1000);

  function header({ card, run, version, generated_at: generated }) {
    $('byline').append(...[
      card.options.criterion && `criterion ${card.options.criterion}`,
      card.options.method && `method ${card.options.method}`,
      card.options.model && `model ${card.options.model}`,
      ['run ', h('code', { title: run }, run.slice(0, 8)), ' ', copyButton(run, 'the run id')],
    ].filter(Boolean).map(part => h('span', null, part)));
    $('footer').append(`Written by Fullbench ${version} on `, time(generated) || '');
  }

  function meaning({ conclusion }) {
    const { meaning: sentences, firmer } = conclusion;
    show('meaning', h('div', { class: 'sentences' },
      sentences.map((sentence, at) => h('p', { class: at === 0 && 'first' }, coded(sentence))),
      firmer.length > 0 && [h('p', null, 'To be firmer:'), h('ul', null, firmer.map(one => h('li', null, coded(one))))]));
  }

  function findings({ findings: list }) {
    show('findings', h('ul', { class: 'states' }, list.map(one => h('li', null,
      h('span', { class: `state ${one.state}` }, STATES[one.state] || words(one.state)),
      h('strong', null, one.name),
      h('span', { class: 'number' }, one.number),
      h('span', { class: 'sentence' }, coded(one.sentence))))));
  }

  // --- judge against people ---

  /** A frame with two scales; `at` places a point in it. */
  function frame(xs, ys, names, label) {
    const x = value => PAD.left + ((value - xs[0]) / (xs[1] - xs[0])) * (WIDE - PAD.left - PAD.right);
    const y = value => HIGH - PAD.bottom - ((value - ys[0]) / (ys[1] - ys[0])) * (HIGH - PAD.top - PAD.bottom);
    const ticks = ([low, high]) => [0, 0.25, 0.5, 0.75, 1].map(part => low + part * (high - low));
    const drawing = svg('svg', { class: 'square', viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': label },
      ticks(ys).map(tick => [line(PAD.left, y(tick), WIDE - PAD.right, y(tick), 'rule'), text(PAD.left - 5, y(tick) + 4, 'end', short(tick))]),
      ticks(xs).map(tick => text(x(tick), HIGH - PAD.bottom + 14, 'middle', short(tick))),
      text((WIDE + PAD.left) / 2, HIGH - 4, 'middle', names[0]),
      svg('text', { x: 10, y: HIGH / 2 - 10, 'text-anchor': 'middle', transform: `rotate(-90 10 ${HIGH / 2 - 10})` }, names[1]));
    return { drawing, x, y };
  }

  /** Equal points as one circle whose area is their number. */
  function gathered(points, systems) {
    const places = new Map();
    for (const { human, judge, system } of points) {
      const at = Math.max(0, systems.indexOf(system || ''));
      const key = [human.toFixed(3), judge.toFixed(3), at].join();
      const known_ = places.get(key) || { human, judge, at, count: 0 };
      known_.count += 1;
      places.set(key, known_);
    }
    const most = Math.max(1, ...[...places.values()].map(one => one.count));
    return [...places.values()].sort((a, b) => b.count - a.count)
      .map(one => ({ ...one, radius: 2.5 + 9 * Math.sqrt((one.count - 1) / most) }));
  }

  function plots({ card }) {
    const points = card.points || [];
    if (!points.length) return;
    const systems = [...new Set(points.map(one => one.system || ''))].sort();
    const circles = gathered(points, systems);
    const told = one => `${int(one.count)} × people ${short(one.human)}, judge ${short(one.judge)}${systems[one.at] ? `, ${systems[one.at]}` : ''}`;
    const circle = (one, cx, cy) => svg('circle', { cx, cy, r: one.radius, class: 'point', style: `--c:${colour(one.at)}` },
      svg('title', null, told(one)));
    const first = frame([0, 1], [0, 1], ['what people said', 'what the judge said'], 'judge scores against human scores');
    first.drawing.append(line(first.x(0), first.y(0), first.x(1), first.y(1), 'ideal'),
      ...circles.map(one => circle(one, first.x(one.human), first.y(one.judge))));
    const second = frame([0, 1], [-1, 1], ['mean of both', 'judge − people'], 'difference against mean of both');
    const across = (value, className) => known(value)
      && line(PAD.left, second.y(value), WIDE - PAD.right, second.y(value), className);
    const bias = card.agreement && card.agreement.bias;
    second.drawing.append(...[line(PAD.left, second.y(0), WIDE - PAD.right, second.y(0), 'ideal'),
      bias && across(bias.mean_difference, 'centre'),
      bias && bias.limits && across(clamp(bias.limits.low, -1, 1), 'limit'),
      bias && bias.limits && across(clamp(bias.limits.high, -1, 1), 'limit'),
      ...circles.map(one => circle(one, second.x((one.human + one.judge) / 2), second.y(one.judge - one.human)))].filter(Boolean));
    show('plots',
      h('p', { class: 'lead' }, 'Scores from 0 to 1; a larger circle stands for more answers.'),
      systems.length > 1 && h('p', { class: 'legend lead' }, systems.map((name, at) => h('span', null, swatch(at), name || 'no system'))),
      h('div', { class: 'side' },
        h('figure', null, first.drawing, h('figcaption', null, 'On the dashed line the judge says what people say.')),
        h('figure', null, second.drawing, h('figcaption', null,
          'Above 0 the judge is kinder than people. Solid: mean difference; dotted: where 95% of the differences lie.'))));
  }

  // --- what moves it ---

  const estimate = one => one && known(one.value) && one;

  /** Estimates with intervals, one below the other, on one scale. */
  function forest(caption, rows, from, to, zero) {
    const shown = rows.filter(([, one]) => estimate(one));
    if (!shown.length) return null;
    const step = 26;
    const left = 250;
    const wide = 720;
    const x = value => left + ((clamp(value, from, to) - from) / (to - from)) * (wide - left - 60);
    const high = shown.length * step + 22;
    const ticks = [0, 0.25, 0.5, 0.75, 1].map(part => from + part * (to - from));
    return h('figure', { class: 'forest' },
      svg('svg', { viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': caption },
        ticks.map(tick => [line(x(tick), 0, x(tick), high - 20, 'rule'), text(x(tick), high - 6, 'middle', short(tick))]),
        zero !== null && line(x(zero), 0, x(zero), high - 20, 'zero'),
        shown.map(([name, one], at) => {
          const y = at * step + step / 2;
          const range = one.interval && known(one.interval.low) && one.interval;
          return [text(0, y + 4, 'start', name, 'name'),
            range && line(x(range.low), y, x(range.high), y, 'whisker'),
            svg('circle', { cx: x(one.value), cy: y, r: 3.75, class: 'dot' },
              svg('title', null, `${name}: ${short(one.value)}${range ? `, ${short(range.low)} to ${short(range.high)}` : ''} (n ${one.n})`)),
            text(wide, y + 4, 'end', short(one.value))];
        })),
      h('figcaption', null, caption));
  }

  function effects({ card }) {
    const { verbosity, formatting, self_preference: own, retest, position, attacks } = card;
    const shifts = [
      verbosity && ['twice as many words', verbosity.slope],
      verbosity && verbosity.padded && ['padded with words that say nothing', verbosity.padded.mean],
      ...((formatting && formatting.changes) || []).map(one => [words(one.change), one.mean]),
      own && ['own family, beside the others', own.difference],
    ].filter(Boolean);
    const widest = Math.max(0.1, ...shifts.flatMap(([, one]) => (estimate(one)
      ? [one.value, one.interval && one.interval.low, one.interval && one.interval.high].filter(known).map(Math.abs) : [])));
    const reach = Math.min(1, Math.ceil(widest * 10) / 10);
    const rates = [
      retest && ['verdict changes when asked again', retest.changed_verdicts],
      position && ['winner changes with the order', position.flipped],
      ...(attacks ? [...attacks.kinds, attacks.empty, attacks.constant, attacks.injected] : [])
        .map(one => [`passes: ${words(one.name)}`, one.succeeded]),
    ].filter(Boolean);
    const drawn = [
      forest('Mean change of the score, from −1 to 1; 0 is right.', shifts, -reach, reach, 0),
      forest('How often; 0 is right.', rates, 0, 1, null),
    ].filter(Boolean);
    if (drawn.length) show('effects', drawn);
  }

  function numbers({ grids }) {
    show('numbers', grids.map(({ title, header: names, rows }) => h('div', { class: 'numbers-grid', role: 'region', tabindex: 0, 'aria-label': title || 'numbers' },
      h('table', null, title && h('caption', null, title),
        h('thead', null, h('tr', null, names.map(name => h('th', { scope: 'col' }, name)))),
        h('tbody', null, rows.map(row => h('tr', null, row.map(cell => h('td', null, cell)))))))));
  }

  const data = JSON.parse($('data').textContent);
  header(data);
  meaning(data);
  findings(data);
  plots(data);
  effects(data);
  numbers(data);
  $('sections').append(...[...document.querySelectorAll('main > section:not([hidden])')].map(section =>
    h('a', { href: `#${section.id}` }, section.querySelector('h2').textContent)));
})();
