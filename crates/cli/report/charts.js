'use strict';
// The charts: inline SVG in percentages, so that they follow their column without any measuring.

const Charts = (() => {
  const { svg, h, known, clamp, mean, int, ms } = Base;
  const pct = fraction => `${(clamp(fraction, 0, 1) * 100).toFixed(2)}%`;
  const TICKS = [0, 0.25, 0.5, 0.75, 1];

  const line = (x1, y1, x2, y2, className) => svg('line', { x1, y1, x2, y2, class: className });

  /** The scale from 0 to 1 above a column of intervals. */
  function axis() {
    return svg('svg', { class: 'plot axis', height: 14, 'aria-hidden': 'true' },
      TICKS.map(tick => svg('text', { x: pct(tick), y: 11, 'text-anchor': 'middle' }, String(tick))));
  }

  /** A mean with its interval on the common scale, the range the unscored leave open, and gates. */
  function interval(score, colour, { thresholds = [], grid = true } = {}) {
    // Everything hangs on the middle of whatever height the chart is given.
    const marks = svg('svg', { y: '50%', width: '100%', height: 1 });
    if (!grid) marks.append(line('0%', 0, '100%', 0, 'grid'));
    if (known(score.worst_mean) && known(score.best_mean) && score.best_mean > score.worst_mean) {
      marks.append(svg('rect', {
        x: pct(score.worst_mean), width: pct(score.best_mean - score.worst_mean), y: -6, height: 12, rx: 2, class: 'bounds',
      }));
    }
    if (known(score.low) && known(score.high)) {
      marks.append(line(pct(score.low), 0, pct(score.high), 0, 'whisker'));
      for (const end of [score.low, score.high]) marks.append(line(pct(end), -5, pct(end), 5, 'whisker'));
    }
    if (known(score.mean)) marks.append(svg('circle', { cx: pct(score.mean), cy: 0, r: 3.75, class: 'dot' }));
    return svg('svg', {
      class: 'plot', role: 'img', style: `--c:${colour}`,
      'aria-label': known(score.mean)
        ? `mean ${mean(score.mean)}, interval ${mean(score.low)} to ${mean(score.high)}`
        : 'no mean',
    },
    grid && TICKS.map(tick => line(pct(tick), 0, pct(tick), '100%', 'grid')),
    thresholds.map(at => line(pct(at), 0, pct(at), '100%', 'gate')), marks);
  }

  /** Half the width of the scale on which differences are drawn: what all of them and their margins need. */
  function reach(comparisons) {
    const ends = comparisons.flatMap(({ evidence, margin }) => [
      margin, evidence.difference, evidence.interval && evidence.interval.low, evidence.interval && evidence.interval.high,
    ]);
    const widest = Math.max(0, ...ends.filter(known).map(Math.abs));
    const step = 10 ** Math.floor(Math.log10(widest || 0.01));
    return Math.ceil(widest / step) * step;
  }

  const signed = value => `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value).toFixed(3)}`;

  /** The scale above a column of differences. */
  function differenceAxis(half) {
    return svg('svg', { class: 'plot axis', height: 14, 'aria-hidden': 'true' },
      [[0, 'start', -half], [0.5, 'middle', 0], [1, 'end', half]].map(([at, anchor, value]) =>
        svg('text', { x: pct(at), y: 11, 'text-anchor': anchor }, value ? signed(Number(value.toPrecision(3))) : '0')));
  }

  /** A difference from a baseline with its interval; no change is in the middle, the margin is dotted. */
  function difference({ evidence, margin, baseline }, half, colour) {
    const at = value => pct((value + half) / (2 * half));
    const { interval: range } = evidence;
    const marks = svg('svg', { y: '50%', width: '100%', height: 1 });
    if (range) {
      marks.append(line(at(range.low), 0, at(range.high), 0, 'whisker'));
      for (const end of [range.low, range.high]) marks.append(line(at(end), -5, at(end), 5, 'whisker'));
    }
    if (known(evidence.difference)) marks.append(svg('circle', { cx: at(evidence.difference), cy: 0, r: 3.75, class: 'dot' }));
    return svg('svg', {
      class: 'plot', role: 'img', style: `--c:${colour}`,
      'aria-label': `difference from ${baseline}: ${known(evidence.difference) ? signed(evidence.difference) : 'none'}`
        + (range ? `, interval ${signed(range.low)} to ${signed(range.high)}` : ', no interval') + `, margin ${signed(-margin)}`,
    }, line(at(0), 0, at(0), '100%', 'zero'), line(at(-margin), 0, at(-margin), '100%', 'gate'), marks);
  }

  /** Counts over equal bins from 0 to 1. */
  function histogram(counts, top, colour, label) {
    const height = 64;
    const step = 1 / (counts.length || 1);
    return svg('svg', { class: 'histogram', height: height + 16, role: 'img', 'aria-label': label, style: `--c:${colour}` },
      counts.map((count, bin) => {
        const tall = count > 0 ? Math.max(1.5, (count / top) * height) : 0;
        return tall > 0 && svg('rect', {
          x: pct(bin * step + step * 0.08), width: pct(step * 0.84), y: height - tall, height: tall, rx: 1, class: 'bar',
        }, svg('title', null, `${(bin * step).toFixed(2)} to ${((bin + 1) * step).toFixed(2)}: ${int(count)}`));
      }),
      line('0%', height + 0.5, '100%', height + 0.5, 'base'),
      [0, 0.5, 1].map(tick => svg('text', {
        x: pct(tick), y: height + 13, 'text-anchor': tick === 0 ? 'start' : tick === 1 ? 'end' : 'middle',
      }, String(tick))));
  }

  /** Passed, failed and unscored as parts of one bar. */
  function shares(score, unscored) {
    const parts = [['passed', score.passed || 0], ['failed', score.failed || 0], ['unscored', unscored]];
    const sum = parts.reduce((all, [, count]) => all + count, 0) || 1;
    const label = parts.filter(([, count]) => count > 0).map(([name, count]) => `${int(count)} ${name}`).join(', ');
    let from = 0;
    return svg('svg', { class: 'shares', height: 14, role: 'img', 'aria-label': label || 'no results' },
      svg('rect', { x: 0, y: 0, width: '100%', height: 14, rx: 2, class: 'share empty' }),
      parts.map(([name, count]) => {
        const at = from;
        from += count / sum;
        return count > 0 && svg('rect', { x: pct(at), width: pct(count / sum), y: 0, height: 14, class: `share ${name}` },
          svg('title', null, `${int(count)} ${name}`));
      }));
  }

  /** A scale for latencies shared by all models: logarithmic when the bins widen. */
  function latencyScale(histograms) {
    const bins = histograms.flat().filter(bin => known(bin.from) && known(bin.to) && bin.to > bin.from);
    if (!bins.length) return null;
    const widths = bins.map(bin => bin.to - bin.from);
    const high = Math.max(...bins.map(bin => bin.to));
    const widening = histograms.some(one => one.length > 2
      && one[one.length - 2].to - one[one.length - 2].from > 1.5 * (one[1].to - one[1].from));
    if (!widening) return { low: 0, high, at: time => time / high };
    const low = Math.max(0.1, Math.min(...bins.map(bin => bin.from || bin.to / 2)), high / 1e5);
    const span = Math.log(high / low) || Math.min(...widths);
    return { low, high, log: true, at: time => (time <= low ? 0 : Math.log(time / low) / span) };
  }

  function latency(bins, scale, colour, label) {
    const height = 30;
    if (!scale || !bins || !bins.some(bin => bin.count > 0)) return null;
    const size = bin => (scale.log ? bin.count : bin.count / (bin.to - bin.from));
    const top = Math.max(...bins.map(size));
    return h('div', { class: 'latency' },
      svg('svg', { class: 'histogram', height: height + 1, role: 'img', 'aria-label': label, style: `--c:${colour}` },
        bins.map(bin => {
          const width = scale.at(bin.to) - scale.at(bin.from);
          return bin.count > 0 && svg('rect', {
            x: pct(scale.at(bin.from) + width * 0.06), width: pct(width * 0.88),
            y: height - Math.max(1.5, (size(bin) / top) * height), height: Math.max(1.5, (size(bin) / top) * height), class: 'bar',
          }, svg('title', null, `${ms(bin.from)} to ${ms(bin.to)}: ${int(bin.count)}`));
        }),
        line('0%', height + 0.5, '100%', height + 0.5, 'base')),
      h('div', { class: 'ends', 'aria-hidden': 'true' },
        h('span', null, scale.log ? ms(scale.low) : '0'), h('span', null, ms(scale.high))));
  }

  return { axis, interval, reach, signed, differenceAxis, difference, histogram, shares, latencyScale, latency };
})();
