'use strict';
// A table that only ever holds the rows in view. Rows have one fixed height, opened details are
// measured once they are drawn, and gaps stand in for everything else. One layout read per frame.

const WindowedTable = (() => {
  const { h, clamp } = Base;
  const OVERSCAN = 6;
  const GUESS = 420; // the height of a detail not yet drawn
  const FEW = 150; // short lists are soon drawn whole, so that the browser's own search finds every row
  const PRINTED = 200;

  /**
   * `makeRow(id, at)` and `makeDetail(id)` return a `tr`; a row holds one `button.key`.
   * `stickyBottom()` says how far down fixed headers reach; `onToggle(id, isOpen)` hears of openings.
   */
  function create({ body, makeRow, makeDetail, stickyBottom, onToggle }) {
    let ids = []; // what is listed, in order
    let rowHeight = 40;
    let current = 0; // the row in the tab order
    let frame = 0;
    let printing = false;
    let whole = false; // every row is drawn
    let later = 0;
    const open = new Map(); // id -> height of its detail
    let openAt = []; // [place, id] of the listed ones
    const drawn = new Map(); // id -> { at, row, detail }
    const resized = new ResizeObserver(entries => {
      let changed = false;
      for (const { target } of entries) {
        const id = Number(target.dataset.id);
        const tall = target.getBoundingClientRect().height;
        if (tall > 0 && open.has(id) && Math.abs(open.get(id) - tall) >= 1) {
          open.set(id, tall);
          changed = true;
        }
      }
      if (changed) schedule();
    });

    const offset = at => {
      let y = at * rowHeight;
      for (const [place, id] of openAt) {
        if (place >= at) break;
        y += open.get(id);
      }
      return y;
    };

    /** The row that covers a height, by halving. */
    const rowAt = y => {
      let low = 0;
      let high = ids.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (offset(middle) <= y) low = middle; else high = middle - 1;
      }
      return low;
    };

    const gap = height => h('tr', { class: 'gap', 'aria-hidden': 'true' },
      h('td', { style: `height:${height}px` }));

    function place() {
      openAt = [];
      if (open.size) ids.forEach((id, at) => { if (open.has(id)) openAt.push([at, id]); });
    }

    function focused() {
      const row = document.activeElement && document.activeElement.closest('tr[data-id]');
      const entry = row && body.contains(row) && drawn.get(Number(row.dataset.id));
      return entry ? entry.at : -1;
    }

    function render() {
      cancelAnimationFrame(frame);
      frame = 0;
      const count = ids.length;
      const top = -body.getBoundingClientRect().top;
      let first = 0;
      let last = (printing ? Math.min(count, PRINTED) : count) - 1;
      if (!printing && !whole) {
        first = Math.max(0, rowAt(top) - OVERSCAN);
        last = Math.min(count - 1, rowAt(top + window.innerHeight) + OVERSCAN);
      }
      const wanted = [];
      for (let at = first; at <= last; at += 1) wanted.push(at);
      // The row with the focus stays, wherever it is scrolled to.
      const held = focused();
      if (held >= 0 && !printing) {
        if (held < first) wanted.unshift(held);
        else if (held > last) wanted.push(held);
      } else if (count && (current < first || current > last)) {
        current = clamp(rowAt(top + stickyBottom()) + 1, first, last);
      }

      const keep = new Set(wanted.map(at => ids[at]));
      for (const [id, entry] of drawn) {
        if (keep.has(id)) continue;
        entry.row.remove();
        dropDetail(entry);
        drawn.delete(id);
      }
      body.querySelectorAll('tr.gap').forEach(node => node.remove());
      let cursor = body.firstChild;
      const put = node => {
        if (node === cursor) cursor = cursor.nextSibling;
        else body.insertBefore(node, cursor);
      };
      let y = 0;
      for (const at of wanted) {
        const id = ids[at];
        const start = offset(at);
        if (start > y && !printing) put(gap(start - y));
        put(draw(id, at));
        const { detail } = drawn.get(id);
        if (detail) put(detail);
        y = start + rowHeight + (open.get(id) || 0);
      }
      const end = offset(count);
      if (end > y && !printing) put(gap(end - y));
    }

    function draw(id, at) {
      let entry = drawn.get(id);
      if (!entry) {
        entry = { at, row: makeRow(id, at), detail: null };
        drawn.set(id, entry);
      }
      const isOpen = open.has(id);
      const button = entry.row.querySelector('button.key');
      button.tabIndex = at === current ? 0 : -1;
      if (isOpen && !entry.detail) {
        entry.detail = makeDetail(id);
        resized.observe(entry.detail);
      }
      if (!isOpen) dropDetail(entry);
      entry.row.classList.toggle('open', isOpen);
      button.setAttribute('aria-expanded', String(isOpen));
      return entry.row;
    }

    function dropDetail(entry) {
      if (!entry.detail) return;
      resized.unobserve(entry.detail);
      entry.detail.remove();
      entry.detail = null;
    }

    /** Opened details that are drawn: their true heights, before anyone sees the gaps. */
    function measure() {
      let changed = false;
      const sample = drawn.size ? drawn.values().next().value.row.getBoundingClientRect().height : 0;
      if (sample > 0 && Math.abs(sample - rowHeight) > 0.1) {
        rowHeight = sample;
        changed = true;
      }
      for (const [id, { detail }] of drawn) {
        const tall = detail ? detail.getBoundingClientRect().height : 0;
        if (tall > 0 && Math.abs(tall - open.get(id)) >= 1) {
          open.set(id, tall);
          changed = true;
        }
      }
      if (changed) render();
    }

    function schedule() {
      if (!frame) frame = requestAnimationFrame(render);
    }

    /** Scrolls as little as shows the row, then draws. */
    function reveal(at, { centre = false } = {}) {
      const y = body.getBoundingClientRect().top + offset(at);
      const ceiling = stickyBottom();
      if (centre) window.scrollBy(0, y - ceiling - 24);
      else if (y < ceiling) window.scrollBy(0, y - ceiling);
      else if (y + rowHeight > window.innerHeight) window.scrollBy(0, y + rowHeight - window.innerHeight + 4);
      render();
    }

    function focusRow(at) {
      current = clamp(at, 0, ids.length - 1);
      reveal(current);
      const entry = drawn.get(ids[current]);
      if (entry) entry.row.querySelector('button.key').focus({ preventScroll: true });
      render();
    }

    function toggle(id, force) {
      const opening = force === undefined ? !open.has(id) : force;
      if (opening === open.has(id)) return;
      if (opening) open.set(id, GUESS); else open.delete(id);
      place();
      render();
      measure();
      onToggle(id, opening);
    }

    body.addEventListener('click', event => {
      const row = event.target.closest('tr.case');
      const selecting = String(window.getSelection()).length > 0 && !event.target.closest('button');
      if (!row || selecting) return;
      current = drawn.get(Number(row.dataset.id)).at;
      toggle(Number(row.dataset.id));
    });

    body.addEventListener('keydown', event => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const row = event.target.closest('tr[data-id]');
      const entry = row && drawn.get(Number(row.dataset.id));
      if (!entry) return;
      if (event.key === 'Escape' && open.has(Number(row.dataset.id))) {
        toggle(Number(row.dataset.id), false);
        focusRow(entry.at);
        return;
      }
      if (!event.target.matches('button.key')) return;
      const page = Math.max(1, Math.floor((window.innerHeight - stickyBottom()) / rowHeight) - 1);
      const moves = {
        ArrowDown: entry.at + 1, ArrowUp: entry.at - 1, PageDown: entry.at + page, PageUp: entry.at - page,
        Home: 0, End: ids.length - 1,
      };
      if (!Object.keys(moves).includes(event.key)) return;
      event.preventDefault();
      focusRow(moves[event.key]);
    });

    window.addEventListener('scroll', schedule, { passive: true });
    window.addEventListener('resize', () => requestAnimationFrame(() => { render(); measure(); }));
    window.addEventListener('beforeprint', () => { printing = true; render(); });
    window.addEventListener('afterprint', () => { printing = false; render(); });

    return {
      /** Lists these ids; drawn rows are made anew, since what they show may depend on the filters. */
      list(next) {
        for (const entry of drawn.values()) dropDetail(entry);
        drawn.clear();
        body.textContent = '';
        ids = next;
        whole = false;
        clearTimeout(later);
        if (ids.length <= FEW) later = setTimeout(() => { whole = true; render(); }, 250);
        current = 0;
        place();
        render();
        measure();
      },
      /** Opens one row and brings it into view. */
      show(id) {
        const at = ids.indexOf(id);
        if (at < 0) return;
        toggle(id, true);
        current = at;
        reveal(at, { centre: true });
        measure();
      },
    };
  }

  return { create, PRINTED };
})();
