'use strict';
// The report card of a judge as a reader sees it. scripts/test-report makes the page and starts this.

const { after, afterEach, before, beforeEach, describe, it } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { chromium } = require('playwright-core');
const { ANSWERS, SYSTEMS } = require('./judgements.js');

const folder = process.env.REPORT_FOLDER;
const address = pathToFileURL(path.join(folder, 'card.html')).href;
const card = JSON.parse(fs.readFileSync(path.join(folder, 'card.json'), 'utf8'));

describe('the report card', () => {
  let browser;
  let page;
  let problems;

  before(async () => {
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM, headless: true, chromiumSandbox: process.getuid() !== 0,
      args: ['--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update'],
    });
  });
  after(() => browser?.close());

  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    problems = [];
    page.on('pageerror', error => problems.push(`error: ${error.message}`));
    page.on('console', message => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
    page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on('request', request => {
      if (request.url().split('#')[0] !== address) problems.push(`request: ${request.url()}`);
    });
    await page.goto(address);
    await page.locator('#footer time').waitFor();
  });

  afterEach(async () => {
    const injected = await page.locator('img, iframe, object, embed, [onerror], [onload]').count();
    await page.close();
    assert.deepEqual(problems, []);
    assert.equal(injected, 0, 'elements came out of the data');
  });

  it('tells every finding with the number of the document', async () => {
    const rows = await page.locator('#findings .states li').evaluateAll(all => all.map(row =>
      [row.querySelector('.state').textContent.replace(' ', '_'), row.querySelector('.number').textContent]));
    assert.deepEqual(rows, card.findings.map(one => [one.state, one.shown]));
    assert.match(await page.locator('#meaning p.first').textContent(), /remembered/);
  });

  it('draws every labelled answer, and the mean difference where it is', async () => {
    const [scatter] = await page.locator('#plots svg.square').evaluateAll(all => all.map(one =>
      [...one.querySelectorAll('circle title')].map(title => title.textContent)));
    const counted = scatter.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0);
    assert.equal(counted, ANSWERS);
    const legend = await page.locator('#plots .legend span').allTextContents();
    for (const system of SYSTEMS) assert.ok(legend.some(text => text.includes(system)), system);
    const [line, zero] = await page.locator('#plots svg.square').nth(1).evaluate(plot => [
      Number(plot.querySelector('line.centre').getAttribute('y1')), Number(plot.querySelector('line.ideal').getAttribute('y1')),
    ]);
    // The frame is 300 high, less its margins, and goes from −1 to 1.
    const drawn = (zero - line) / ((300 - 8 - 34) / 2);
    assert.ok(Math.abs(drawn - card.agreement.bias.mean_difference) < 1e-6, `${drawn}`);
  });

  it('has the tables of the terminal', async () => {
    const captions = await page.locator('#numbers caption').allTextContents();
    assert.ok(captions.includes('agreement with people') && captions.includes('replies and price'), captions.join());
    assert.equal(await page.locator('#sections a').count(), await page.locator('main > section:not([hidden])').count());
  });
});
