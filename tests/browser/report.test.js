'use strict';
// The HTML report as a reader uses it. scripts/test-report makes the report and starts this.

const { after, afterEach, before, beforeEach, describe, it } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { chromium } = require('playwright-core');
const {
  CASES, MODELS, SCORERS, THREADS, NAME, HOSTILE, HOSTILE_OUTPUT, HOSTILE_CATEGORY, HOSTILE_CASE, NEEDLE, NEEDLE_CASE, key, testCase,
} = require('./evaluation.js');

const folder = process.env.REPORT_FOLDER;
const report = pathToFileURL(path.join(folder, 'report.html')).href;
const summary = JSON.parse(fs.readFileSync(path.join(folder, 'summary.json'), 'utf8'));
const TOTAL = (CASES * MODELS.length).toLocaleString('en');
const FLAGS = [
  '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync',
];

const scoreOf = (model, scorer) => summary.models.find(one => one.model === model).scores.find(one => one.scorer === scorer);

describe('the HTML report', () => {
  let browser;
  let context;
  let page;
  let problems;

  before(async () => {
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM, headless: true, chromiumSandbox: process.getuid() !== 0, args: FLAGS,
    });
  });
  after(() => browser?.close());

  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    problems = [];
    page.on('pageerror', error => problems.push(`error: ${error.message}`));
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
    });
    page.on('dialog', dialog => {
      problems.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on('request', request => {
      const { protocol, href } = new URL(request.url());
      if (protocol !== 'data:' && href.split('#')[0] !== report) problems.push(`request: ${href}`);
    });
    await open();
  });

  // Whatever a test did, nothing of the data has run, loaded or become markup.
  afterEach(async () => {
    const injected = await page.locator('img, iframe, object, embed, video, audio, base, [onerror], [onload], [onclick]').count();
    const scripts = await page.locator('script').count();
    await context.close();
    assert.deepEqual(problems, []);
    assert.equal(injected, 0, 'elements came out of the data');
    assert.equal(scripts, 3, 'the page has its own three scripts and no other');
  });

  const open = async (hash = '') => {
    await page.goto(report + hash);
    await page.locator('#count strong').waitFor();
  };
  /** Waits until the line above the table says how many results are listed. */
  const counted = async text => {
    const there = page.locator('#count').filter({ hasText: new RegExp(`^${text}$`) });
    await there.waitFor().catch(async () => assert.equal(await page.locator('#count').textContent(), text));
  };
  const hashHas = (name, wanted) =>
    page.waitForURL(url => new URLSearchParams(url.hash.slice(1)).get(name) === wanted, { waitUntil: 'commit' });
  const listedKeys = () => page.locator('tr.case button.key .label').allTextContents();

  it('says which run this is and where it stands', async () => {
    assert.equal(await page.title(), NAME);
    assert.equal(await page.locator('h1').textContent(), NAME);
    assert.equal(await page.locator('.headline .badge').textContent(), summary.state);
    assert.match(await page.locator('#byline').textContent(), new RegExp(summary.id.slice(0, 8)));
    assert.ok(await page.locator('#trouble').isHidden());
  });

  it('gives every model and scorer the mean that `fullbench show` gives', async () => {
    const shown = await page.locator('table.summary tbody').evaluateAll(bodies => bodies.flatMap(body => {
      const [head, ...rows] = body.rows;
      const scorer = head.cells[0].firstChild.textContent;
      const cell = (row, label) => row.querySelector(`[data-label="${label}"]`).textContent;
      return rows.map(row => [row.querySelector('th').title, scorer, cell(row, 'mean'), cell(row, 'n')]);
    }));
    const expected = SCORERS.flatMap(scorer => MODELS.map(model => {
      const { mean, count } = scoreOf(model, scorer);
      return [model, scorer, mean.toFixed(3), count.toLocaleString('en')];
    }));
    assert.deepEqual(shown, expected);
    const rated = Array.from({ length: CASES }, (_, number) => testCase(number)).filter(one => one.reference);
    const right = rated.filter(one => one.answers.alpha === one.reference).length;
    assert.equal(shown[0][2], (right / rated.length).toFixed(3), 'the mean is that of the data');
  });

  it('draws every interval on one scale, with the numbers beside', async () => {
    const rows = await page.locator('table.summary tbody tr:not(.scorer)').evaluateAll(all => all.map(row => {
      const plot = row.querySelector('svg.plot').getBoundingClientRect();
      const whisker = row.querySelector('svg.plot line.whisker').getBoundingClientRect();
      const at = x => (x - plot.left) / plot.width;
      return {
        label: row.querySelector('svg.plot').getAttribute('aria-label'), range: row.querySelector('[data-label="95%"]').textContent,
        low: at(whisker.left), high: at(whisker.right),
      };
    }));
    const scores = SCORERS.flatMap(scorer => MODELS.map(model => scoreOf(model, scorer)));
    for (const [at, { mean, low, high, interval, clusters }] of scores.entries()) {
      assert.equal(interval, 't_clustered_by_group');
      assert.equal(clusters, THREADS);
      assert.equal(rows[at].range, `${low.toFixed(3)} – ${high.toFixed(3)}`);
      assert.equal(rows[at].label, `mean ${mean.toFixed(3)}, interval ${low.toFixed(3)} to ${high.toFixed(3)}`);
      assert.ok(Math.abs(rows[at].low - low) < 0.01 && Math.abs(rows[at].high - high) < 0.01, JSON.stringify(rows[at]));
    }
    assert.match(await page.locator('#summary').textContent(), new RegExp(`clustered by thread: ${THREADS} groups`));
  });

  it('tells a gate that cannot tell from one that holds, without colour', async () => {
    const rows = await page.locator('table.gates tbody tr').evaluateAll(all => all.map(row => ({
      result: row.cells[0].textContent, model: row.cells[2].textContent, chart: row.querySelector('svg.plot')?.getAttribute('aria-label'),
      warning: row.querySelector('.warning')?.textContent,
    })));
    assert.equal(rows.length, 2 * MODELS.length);
    for (const gate of summary.gates) {
      const wanted = gate.warning ? '!cannot tell' : '✓passed';
      assert.ok(rows.some(row => row.result === wanted && row.model === gate.model && (row.warning ?? null) === gate.warning), gate.expression);
    }
    const open = rows.filter(row => row.warning);
    assert.deepEqual(open.map(row => row.model).toSorted(), MODELS.filter(model => model !== 'beta').toSorted());
    assert.ok(rows.indexOf(open.at(-1)) < open.length, 'what needs a look comes first');
    assert.match(rows.find(row => row.model === 'beta' && row.chart).chart, /^difference from main: \+0\.\d+, interval \+0\.\d+ to \+0\.\d+, margin −0\.001$/);
    assert.match(await page.locator('#figures').textContent(), /All passed3 cannot tell/);
  });

  it('has the numbers of every value of the field asked for', async () => {
    const values = await page.locator('table.groups tbody th').allTextContents();
    assert.deepEqual(values.toSorted(), ['accounts', 'billing', HOSTILE_CATEGORY, 'returns', 'shipping'].toSorted());
  });

  it('holds all results but draws only those in view', async () => {
    await counted(`${TOTAL} results`);
    const drawn = async () => {
      const rows = await page.locator('#table tbody tr').count();
      assert.ok(rows > 5 && rows < 200, `${rows} rows are drawn`);
    };
    await drawn();
    await page.locator('#cases').scrollIntoViewIfNeeded();
    await page.locator('tr.case button.key').first().focus();
    await page.keyboard.press('End');
    await page.locator(`tr.case[aria-rowindex="${CASES * MODELS.length + 1}"]`).waitFor();
    await drawn();
  });

  it('finds one case by a word of its input', async () => {
    await page.locator('#f-q').fill('xylophone-quartz');
    await counted(`${MODELS.length} of ${TOTAL} results`);
    assert.deepEqual(await listedKeys(), MODELS.map(() => key(NEEDLE_CASE)));
    assert.equal(await page.locator('tr.case .c-input').first().textContent(), NEEDLE);
    await page.locator('#f-q').fill('no case has these words');
    await counted(`0 of ${TOTAL} results`);
    assert.ok(await page.locator('#none').isVisible());
    await page.locator('#f-clear').click();
    await counted(`${TOTAL} results`);
  });

  it('filters by outcome, model and scorer', async () => {
    const model = MODELS.at(-1);
    await page.locator('#f-model').selectOption(model);
    await page.locator('#f-scorer').selectOption(SCORERS[0]);
    for (const outcome of ['passed', 'failed']) {
      await page.locator('#f-outcome').selectOption(outcome);
      await counted(`${scoreOf(model, SCORERS[0])[outcome].toLocaleString('en')} of ${TOTAL} results`);
      const marks = await page.locator(`tr.case .c-score[data-label="${SCORERS[0]}"] .outcome`).evaluateAll(
        (nodes, wanted) => nodes.every(node => node.classList.contains(wanted)), outcome);
      assert.ok(marks, `every row listed has ${outcome}`);
    }
    await page.locator('#f-outcome').selectOption('no_answer');
    await counted(`5 of ${TOTAL} results`);
  });

  // Reading a number, clicking on it and finding another number of results is how trust is lost.
  for (const outcome of ['passed', 'failed', 'unscored']) {
    it(`lists as many results as the summary counts as ${outcome}`, async () => {
      const links = page.locator(`table.summary [data-label="${outcome}"] a`);
      const numbers = await links.allTextContents();
      assert.ok(numbers.length >= MODELS.length, 'numbers are links');
      for (const [at, number] of numbers.entries()) {
        await links.nth(at).click();
        await counted(`${number} of ${TOTAL} results`);
      }
    });
  }

  it('offers only the metadata that the evaluation file names', async () => {
    const fields = await page.locator('#f-field option').evaluateAll(options => options.map(option => option.value));
    assert.deepEqual(fields, ['', 'category']);
  });

  it('opens a row by keyboard and shows hostile text as it was written', async () => {
    await page.locator('#f-q').fill('<img src=x');
    await counted(`${MODELS.length} of ${TOTAL} results`);
    await page.locator('#f-model').selectOption(MODELS[0]);
    await counted(`1 of ${TOTAL} results`);
    const row = page.locator('tr.case button.key');
    await row.focus();
    await page.keyboard.press('Enter');
    const detail = page.locator('tr.detail');
    await detail.waitFor();
    assert.equal(await row.getAttribute('aria-expanded'), 'true');
    const text = title => detail.locator('.block', { has: page.locator('h3', { hasText: new RegExp(`^${title}$`) }) }).locator('pre');
    assert.equal(await text('Output').textContent(), HOSTILE_OUTPUT);
    assert.equal(await text('Input').textContent(), testCase(HOSTILE_CASE).input);
    assert.equal(await text('Reference').textContent(), testCase(HOSTILE_CASE).reference);
    assert.ok((await detail.locator('dl.facts').textContent()).includes(HOSTILE_CATEGORY));
    await page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
  });

  it('says why a result has no score and no answer', async () => {
    await open('#outcome=no_answer');
    await counted(`5 of ${TOTAL} results`);
    await page.locator('tr.case button.key').first().press('Enter');
    assert.match(await page.locator('tr.detail .failure').textContent(), /no recorded answer in `answers\.delta`/);
    await open(`#key=${key(3)}&model=${MODELS[0]}&case=${key(3)}~${MODELS[0]}~0`);
    assert.match(await page.locator('tr.detail .verdicts li').first().textContent(), /unscored: no reference/);
  });

  it('keeps filters and the open row in the link', async () => {
    await page.locator('#f-q').fill(HOSTILE);
    await page.locator('#f-scorer').selectOption(SCORERS[0]);
    await page.locator('#f-outcome').selectOption('failed');
    await page.locator('#f-field').selectOption('category');
    await page.locator('#f-value').selectOption(HOSTILE_CATEGORY);
    const { answers, reference } = testCase(HOSTILE_CASE);
    const wrong = MODELS.filter(model => answers[model] !== reference);
    const told = `${wrong.length} of ${TOTAL} results`;
    await counted(told);
    await page.locator('tr.case button.key').first().press('Enter');
    await hashHas('case', `${key(HOSTILE_CASE)}~${MODELS[0]}~0`);
    await hashHas('q', HOSTILE);
    await hashHas('outcome', 'failed');
    await hashHas('value', HOSTILE_CATEGORY);

    await page.reload();
    await counted(told);
    assert.equal(await page.locator('#f-q').inputValue(), HOSTILE);
    assert.equal(await page.locator('#f-scorer').inputValue(), SCORERS[0]);
    assert.equal(await page.locator('#f-outcome').inputValue(), 'failed');
    assert.equal(await page.locator('#f-value').inputValue(), HOSTILE_CATEGORY);
    assert.equal(await page.locator('tr.detail pre', { hasText: 'größe' }).textContent(), HOSTILE_OUTPUT);
  });
});
