'use strict';
// What every part of the report uses: making nodes, numbers and times in words.
// Data only ever becomes text nodes and attribute values, never markup.

const Base = (() => {
  const SVG = 'http://www.w3.org/2000/svg';

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === 'function') node.addEventListener(name, value);
      else node.setAttribute(name, value === true ? '' : value);
    }
    for (const child of children.flat(3)) {
      if (child !== null && child !== undefined && child !== false) node.append(child);
    }
    return node;
  }

  /** An HTML element: attributes (functions are listeners), then children. */
  const h = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);

  /** An SVG element. */
  const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

  const $ = id => document.getElementById(id);
  const known = value => typeof value === 'number' && Number.isFinite(value);
  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

  const NONE = '–';
  const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
  const dateTime = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit',
    timeZoneName: 'short',
  });

  const int = value => (known(value) ? whole.format(value) : NONE);
  const plural = (count, one, many) => `${int(count)} ${count === 1 ? one : many || one + 's'}`;
  /** A mean: always three decimals, so that columns line up. */
  const mean = value => (known(value) ? value.toFixed(3) : NONE);
  /** A single value: as short as it can be. */
  const value = number => (known(number) ? String(Math.round(number * 1000) / 1000) : NONE);

  function ms(time) {
    if (!known(time)) return NONE;
    if (time < 10 && time !== 0) return `${time.toFixed(1)} ms`;
    if (time < 1000) return `${Math.round(time)} ms`;
    if (time < 60000) return `${(time / 1000).toFixed(time < 10000 ? 2 : 1)} s`;
    const minutes = Math.floor(time / 60000);
    if (minutes < 60) return `${minutes} min ${Math.floor((time % 60000) / 1000)} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  function usd(cost, unknown = 'no price known') {
    if (!known(cost)) return unknown;
    if (cost === 0) return '$0';
    if (Math.abs(cost) >= 1) return `$${cost.toFixed(2)}`;
    const digits = Math.min(9, Math.max(4, Math.ceil(-Math.log10(Math.abs(cost))) + 1));
    return `$${cost.toFixed(digits)}`;
  }

  function time(iso) {
    const date = new Date(iso);
    if (!iso || Number.isNaN(date.getTime())) return null;
    return h('time', { datetime: iso, title: iso }, dateTime.format(date));
  }

  const WORDS = {
    __proto__: null,
    unparseable_judgement: 'judgement not understood',
    missing_reference: 'no reference',
    scorer_error: 'scorer failed',
    pending_human: 'waiting for a person',
    provider_error: 'provider error',
    timeout: 'timed out',
    rate_limited: 'rate limited',
    budget_exhausted: 'budget used up',
    cancelled: 'run stopped',
    not_sampled: 'not sampled',
    no_answer: 'no answer',
    wilson: 'Wilson',
  };
  const words = word => WORDS[word] || String(word === null ? '' : word).replace(/_/g, ' ');
  const total = counts => Object.values(counts || {}).reduce((sum, count) => sum + (count || 0), 0);
  /** `{timeout: 2, missing_reference: 1}` as «2 timed out, 1 no reference»; a count already `told` is left out. */
  const reasons = (counts, told) => Object.entries(counts || {})
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([reason, count]) => (count === told ? words(reason) : `${int(count)} ${words(reason)}`))
    .join(', ');

  /** Names without the provider, where that leaves them distinct. */
  function shortNames(names) {
    const cut = names.map(name => name.slice(name.indexOf(':') + 1) || name);
    return names.map((name, i) => (cut.filter(other => other === cut[i]).length > 1 ? name : cut[i]));
  }

  const colour = index => `var(--m${index % 8})`;
  const swatch = index => h('span', { class: 'swatch', style: `--c:${colour(index)}`, 'aria-hidden': 'true' });

  /** A link that sets the filters of the result table. */
  const filterLink = filters => '#' + new URLSearchParams(
    Object.entries(filters).filter(([, text]) => text !== null && text !== undefined && text !== ''));

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch (_) {
      const area = h('textarea', { class: 'sr', 'aria-hidden': 'true' });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
  }

  function copyButton(text, what) {
    const button = h('button', { type: 'button', class: 'copy', 'aria-label': `Copy ${what}` }, 'Copy');
    button.addEventListener('click', async () => {
      await copy(text);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1400);
    });
    return button;
  }

  /** Text with every occurrence of `query` (lower case) marked. */
  function marked(text, query) {
    const lower = query ? text.toLowerCase() : '';
    if (!query || lower.length !== text.length) return [text];
    const parts = [];
    let from = 0;
    for (let at = lower.indexOf(query); at >= 0 && parts.length < 1000; at = lower.indexOf(query, from)) {
      if (at > from) parts.push(text.slice(from, at));
      from = at + query.length;
      parts.push(h('mark', null, text.slice(at, from)));
    }
    if (from < text.length) parts.push(text.slice(from));
    return parts;
  }

  return {
    h, svg, $, known, clamp, NONE, int, plural, mean, value, ms, usd, time, words, total, reasons,
    shortNames, colour, swatch, filterLink, copyButton, marked,
  };
})();
