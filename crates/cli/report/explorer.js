'use strict';
// The result table's filters, sorting and shared links. The state lives in the URL's hash.

const Explorer = (() => {
  const { h, $, int, plural, words, filterLink } = Base;
  const LISTED = 500; // values of a metadata field offered
  const FIELDS = ['q', 'model', 'scorer', 'outcome', 'field', 'value', 'differ', 'key', 'sort', 'case'];

  function create(data, names) {
    const { cases, models, scorers } = data;
    const facts = Facts.create(data);
    const state = { __proto__: null };
    const rows = Rows.create(data, names);
    const table = $('table');
    const query = () => (state.q || '').toLowerCase();
    let bar = 0; // how far down the filters stay in view
    const nameOf = id => [cases[id].key, models[cases[id].m].model, cases[id].rep].join('~');
    const view = WindowedTable.create({
      body: table.tBodies[0],
      makeRow: (id, at) => rows.row(id, at, query()),
      makeDetail: id => rows.detail(id, query()),
      stickyBottom: () => bar + table.tHead.offsetHeight,
      onToggle: (id, isOpen) => {
        if (isOpen) state.case = nameOf(id);
        else if (state.case === nameOf(id)) state.case = '';
        writeHash();
      },
    });

    // --- what is listed ---

    function filtered() {
      const model = models.findIndex(one => one.model === state.model);
      const scorer = scorers.findIndex(one => one.name === state.scorer);
      const chosen = scorer >= 0 ? [scorer] : scorers.map((_, s) => s);
      const meta = state.field && state.value ? facts.meta(state.field) : null;
      const differ = state.differ ? chosen.map(s => facts.differ(s)) : null;
      const text = query();
      const hay = text ? facts.hay() : null;
      const has = (one, s) => {
        const score = one.scores && one.scores[s];
        return state.outcome === 'pending' ? !score : Boolean(score) && score.o === state.outcome;
      };
      const listed = [];
      for (let i = 0; i < cases.length; i += 1) {
        const one = cases[i];
        if (model >= 0 && one.m !== model) continue;
        if (state.key && String(one.key) !== state.key) continue;
        if (state.outcome === 'no_answer') {
          if (!one.failure) continue;
        } else if (state.outcome && !chosen.some(s => has(one, s))) continue;
        if (differ && !differ.some(list => list[i])) continue;
        if (meta && meta[i] !== state.value) continue;
        if (hay && !hay[i].includes(text)) continue;
        listed.push(i);
      }
      const [, name, way] = /^(.*?)(-?)$/.exec(state.sort || '');
      if (name) {
        const by = facts.order(name);
        const sign = way ? -1 : 1;
        // What has no number comes last either way; ties keep the order of the run.
        listed.sort((a, b) => {
          const x = by[a];
          const y = by[b];
          if (x === y) return a - b;
          if (Number.isNaN(x)) return Number.isNaN(y) ? a - b : 1;
          return Number.isNaN(y) ? -1 : sign * (x - y);
        });
      }
      return listed;
    }

    function apply({ stay = false } = {}) {
      const listed = filtered();
      const narrowed = FIELDS.some(field => !['sort', 'case'].includes(field) && state[field]);
      $('count').replaceChildren(h('strong', null, narrowed ? int(listed.length) : int(cases.length)),
        narrowed ? ` of ${plural(cases.length, 'result')}` : cases.length === 1 ? ' result' : ' results');
      $('f-clear').hidden = !narrowed && !state.sort;
      $('none').hidden = listed.length > 0;
      $('none').textContent = cases.length ? 'No result matches these filters.' : 'This run has no results yet.';
      $('printed').textContent = listed.length > WindowedTable.PRINTED ? `Only the first ${WindowedTable.PRINTED} are printed.` : '';
      table.hidden = listed.length === 0;
      table.setAttribute('aria-rowcount', listed.length + 1);
      for (const th of table.tHead.rows[0].cells) {
        const { sort } = th.dataset;
        if (sort) th.setAttribute('aria-sort', state.sort === sort ? 'ascending' : state.sort === `${sort}-` ? 'descending' : 'none');
      }
      // Someone far down the old list starts at the top of the new one.
      const form = $('filters');
      if (!stay && table.getBoundingClientRect().top < form.getBoundingClientRect().bottom - 4) {
        window.scrollTo(0, window.scrollY + $('cases').getBoundingClientRect().top + form.offsetTop - $('cases').offsetTop);
      }
      view.list(listed);
    }

    // --- the link ---

    let pending = 0;
    function writeHash() {
      clearTimeout(pending);
      pending = setTimeout(() => {
        const hash = filterLink(Object.fromEntries(FIELDS.map(field => [field, state[field]])));
        try {
          history.replaceState(null, '', hash === '#' ? location.pathname + location.search : hash);
        } catch (_) {
          location.replace(hash);
        }
      }, 200);
    }

    function readHash() {
      const hash = new URLSearchParams(location.hash.slice(1));
      FIELDS.forEach(field => { state[field] = hash.get(field) || ''; });
      $('f-q').value = state.q;
      $('f-differ').checked = Boolean(state.differ);
      for (const field of ['model', 'scorer', 'outcome', 'field']) choose($(`f-${field}`), state[field]);
      offerValues();
      showKey();
    }

    /** Selects a value, adding it when the link names one that is not offered. */
    function choose(select, wanted) {
      if (wanted && ![...select.options].some(option => option.value === wanted)) {
        select.append(h('option', { value: wanted }, words(wanted)));
      }
      select.value = wanted;
    }

    function set(changes, options) {
      Object.assign(state, changes, { case: '' });
      apply(options);
      writeHash();
    }

    // --- the controls ---

    const options = (select, list) => select.replaceChildren(
      ...list.filter(Boolean).map(([code, label]) => h('option', { value: code }, label)));

    function offerValues() {
      const counts = new Map();
      if (state.field) {
        for (const text of facts.meta(state.field)) if (text !== null) counts.set(text, (counts.get(text) || 0) + 1);
      }
      const all = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
      options($('f-value'), [['', 'Any value'],
        ...all.slice(0, LISTED).map(([text, count]) => [text, `${text.slice(0, 80)} (${int(count)})`])]);
      if (all.length > LISTED) $('f-value').append(h('option', { disabled: true }, `${int(all.length - LISTED)} more not listed`));
      $('f-value-field').hidden = !state.field;
      choose($('f-value'), state.value);
    }

    function showKey() {
      $('f-key').hidden = !state.key;
      $('f-key').textContent = `Case ${state.key}`;
      $('f-key').setAttribute('aria-label', `Stop showing only case ${state.key}`);
    }

    function controls() {
      const present = new Set();
      const fields = new Set();
      for (const one of cases) {
        if (one.failure) present.add('no_answer');
        scorers.forEach((_, s) => present.add(one.scores && one.scores[s] ? one.scores[s].o : 'pending'));
        for (const field in one.metadata || {}) fields.add(field);
      }
      options($('f-model'), [['', 'All models'], ...models.map(one => [one.model, one.model])]);
      options($('f-scorer'), [['', 'Any scorer'], ...scorers.map(one => [one.name, one.name])]);
      options($('f-outcome'), [['', 'Any outcome'], ['passed', 'Passed'], ['failed', 'Failed'],
        present.has('scored') && ['scored', 'Scored'], ['unscored', 'Unscored'],
        present.has('not_sampled') && ['not_sampled', 'Not sampled'],
        present.has('pending') && ['pending', 'Not scored yet'],
        present.has('no_answer') && ['no_answer', 'No answer']]);
      options($('f-field'), [['', 'Any'], ...[...fields].sort().map(field => [field, field])]);
      $('f-model-field').hidden = models.length < 2;
      $('f-scorer-field').hidden = scorers.length < 2;
      $('f-outcome-field').hidden = scorers.length < 1;
      $('f-field-field').hidden = fields.size === 0;
      $('f-differ-field').hidden = models.length < 2 || scorers.length < 1;
      $('f-differ-field').title = `Scores of one case differ between models: passed and failed, or at least ${Facts.APART} apart`;
      $('filters').hidden = cases.length === 0;
      $('table-help').hidden = cases.length === 0;

      let waiting = 0;
      $('f-q').addEventListener('input', event => {
        cancelAnimationFrame(waiting);
        waiting = requestAnimationFrame(() => set({ q: event.target.value }));
      });
      for (const field of ['model', 'scorer', 'outcome', 'value']) {
        $(`f-${field}`).addEventListener('change', event => set({ [field]: event.target.value }));
      }
      $('f-field').addEventListener('change', event => {
        Object.assign(state, { field: event.target.value, value: '' });
        offerValues();
        set({});
      });
      $('f-differ').addEventListener('change', event => set({ differ: event.target.checked ? '1' : '' }));
      $('f-key').addEventListener('click', () => { set({ key: '' }); showKey(); $('f-q').focus(); });
      $('filters').addEventListener('submit', event => event.preventDefault());
      $('filters').addEventListener('reset', event => {
        event.preventDefault();
        history.replaceState(null, '', location.pathname + location.search);
        readHash();
        apply();
        $('f-q').focus();
      });
      document.addEventListener('keydown', event => {
        if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
        event.preventDefault();
        $('f-q').focus();
        $('f-q').select();
      });
    }

    function header() {
      table.style.setProperty('--scorers', Math.max(1, rows.columns.filter(column => column.className === 'c-score').length));
      table.style.setProperty('--columns', rows.columns.map(column => column.width).join(' '));
      table.tHead.append(h('tr', { role: 'row', 'aria-rowindex': 1 }, rows.columns.map(column => {
        const label = h('span', { class: 'label' }, column.name);
        const th = h('th', {
          scope: 'col', role: 'columnheader', class: column.className,
          title: column.label || column.name, 'data-sort': column.sort, 'aria-sort': column.sort && 'none',
        }, column.sort ? h('button', { type: 'button', class: 'sort', click: () => turn(column) }, label) : label);
        return th;
      })));
    }

    /** No order, the useful way first, the other way, and back. */
    function turn({ sort, first }) {
      const ways = first > 0 ? ['', sort, `${sort}-`] : ['', `${sort}-`, sort];
      set({ sort: ways[(ways.indexOf(state.sort) + 1) % 3] || '' });
    }

    function start() {
      controls();
      header();
      const arrive = jump => {
        readHash();
        const wanted = state.case;
        apply({ stay: true });
        const id = wanted ? cases.findIndex((_, i) => nameOf(i) === wanted) : -1;
        if (id >= 0) view.show(id);
        else if (jump) $('cases').scrollIntoView();
      };
      // Keeps the column heads right below the filters as those wrap.
      const fit = () => {
        const fixed = getComputedStyle($('filters')).position === 'sticky';
        bar = fixed ? $('filters').offsetHeight : 0;
        table.style.setProperty('--bar', `${bar}px`);
      };
      readHash();
      fit();
      arrive(location.hash.length > 1);
      window.addEventListener('hashchange', () => arrive(true));
      new ResizeObserver(fit).observe($('filters'));
    }

    return { start };
  }

  return { create };
})();
