'use strict';
// What filtering and sorting look at, in flat arrays made on first use.

const Facts = (() => {
  const { known } = Base;
  const APART = 0.25; // how far values without a threshold differ to count as disagreement

  function create(data) {
    const { cases, scorers } = data;
    const numbers = pick => Float64Array.from(cases, one => { const x = pick(one); return known(x) ? x : NaN; });
    const lazily = (store, name, make) => {
      if (!store.has(name)) store.set(name, make(name));
      return store.get(name);
    };
    const values = new Map();
    const valuesOf = s => lazily(values, s, () => numbers(one => one.scores && one.scores[s] && one.scores[s].v));

    /** Which cases the models disagree on: their scores of one repetition are apart. */
    const groups = new Map(); // case and repetition -> its number
    let group = null;
    const differ = new Map();
    const makeDiffer = s => {
      group = group || Int32Array.from(cases, one => {
        const name = one.rep ? `${one.key}\u0000${one.rep}` : one.key;
        if (!groups.has(name)) groups.set(name, groups.size);
        return groups.get(name);
      });
      const low = new Float64Array(groups.size).fill(Infinity);
      const high = new Float64Array(groups.size).fill(-Infinity);
      cases.forEach((one, i) => {
        const score = one.scores && one.scores[s];
        if (!score) return;
        const x = score.o === 'passed' ? 1 : score.o === 'failed' ? 0 : valuesOf(s)[i];
        if (x < low[group[i]]) low[group[i]] = x;
        if (x > high[group[i]]) high[group[i]] = x;
      });
      return Uint8Array.from(group, at => (high[at] - low[at] >= APART ? 1 : 0));
    };

    const hay = new Array(cases.length);
    let built = 0;
    const build = until => {
      for (; built < Math.min(until, cases.length); built += 1) {
        const one = cases[built];
        hay[built] = `${one.key}\n${one.input || ''}\n${one.output || ''}\n${(one.references || []).join('\n')}`.toLowerCase();
      }
      return built < cases.length;
    };
    const ahead = () => { if (build(built + 250)) setTimeout(ahead, 4); };
    setTimeout(ahead, 300);

    const meta = new Map(); // field -> text of every case, made on first use
    const orders = new Map(); // sort -> numbers of every case
    const makeOrder = name => {
      if (name === 'latency') return numbers(one => one.latency_ms);
      if (name === 'cost') return numbers(one => one.cost_usd);
      if (name === 'key') {
        const compare = new Intl.Collator('en', { numeric: true }).compare;
        const rank = new Map([...new Set(cases.map(one => String(one.key)))].sort(compare).map((key, at) => [key, at]));
        return numbers(one => rank.get(String(one.key)));
      }
      const scorer = scorers.findIndex(one => name === `score:${one.name}`);
      if (scorer >= 0) return valuesOf(scorer);
      return Float64Array.from(cases, (_, i) => {
        const present = scorers.map((__, s) => valuesOf(s)[i]).filter(known);
        return present.length ? present.reduce((sum, x) => sum + x, 0) / present.length : NaN;
      });
    };
    return {
      differ: s => lazily(differ, s, makeDiffer),
      hay: () => { build(Infinity); return hay; },
      meta: field => lazily(meta, field, () => cases.map(one => (one.metadata
        && Object.prototype.hasOwnProperty.call(one.metadata, field) ? Rows.metaText(one.metadata[field]) : null))),
      order: name => lazily(orders, name, makeOrder),
    };
  }

  return { create, APART };
})();
