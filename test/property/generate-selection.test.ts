import assert from 'node:assert/strict';
import {test} from 'node:test';
import {compact} from '../../jobs/compact.ts';
import {candidateRule} from '../../jobs/crawldb/candidates.ts';
import {generate} from '../../jobs/generate.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {fetchOrders} from '../../lib/selection/selection.ts';
import {sharesOf} from '../../lib/selection/shares.ts';
import {identify} from '../../lib/url/keys.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {plainSelection} from '../support/selection-model.ts';

const start = Date.UTC(2026, 0, 1);

/** Chance from a seed: Park and Miller's generator. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const scores = [1, 0.85, 0.5, 0, -1];

/** A score that shrinks with each link; one URL in nine may have less. */
function shrinkingScore(next: (below: number) => number, depth: number): number {
  return scores[Math.max(depth, next(9) === 0 ? next(5) : 0)]!;
}

function randomRows(
  next: (below: number) => number,
  count = 300,
  scoreOf: (depth: number) => number = () => scores[next(5)]!,
  hostCount = 12,
): CrawlDatum[] {
  const hosts = Array.from({length: hostCount}, (_, i) => `w${i}.d${next(5)}.com`);
  return Array.from({length: count}, (_, i) => {
    // Small numbers of scores and hosts, so that there are ties and skew
    const host = hosts[Math.min(next(hosts.length), next(hosts.length))]!;
    const seed = [`http://s${next(4)}.test/`, null][next(5) === 0 ? 1 : 0]!;
    const tag = ['news', 'shop', null][next(3)]!;
    const depth = next(4);
    const found = {
      score: scoreOf(depth),
      depth,
      seed,
      tag,
      hopType: 'L',
      time: new Date(start - 1),
      from: 'http://x.test/',
      intervalS: 3600,
    } as const;
    const row = newRow(identify(`http://${host}/${i}`), found, 1);
    if (next(12) === 0) return {...row, fetch_time: new Date(start - 1000), retries: 1}; // waits in the other list
    return next(3) === 0
      ? {
          ...row,
          status: 'fetched',
          fetch_time: new Date(start - 1000),
          last_success_time: new Date(start - 1000),
          next_fetch_time: new Date(start - 1000 * next(20)),
          fetch_interval_s: 4 ** next(6), // powers of two, so that lateness is exact on both sides
        }
      : row;
  });
}

async function put(crawl: JobHarness, rows: readonly CrawlDatum[]): Promise<void> {
  const ordered = rows.toSorted((a, b) =>
    a.host_key < b.host_key || (a.host_key === b.host_key && a.url_key < b.url_key) ? -1 : 1,
  );
  await commitRows(crawl, [{slot: 'crawldb', table: 'crawldb', rows: ordered, facts: {kind: 'base'}}]);
}

test('reading the head of the crawldb gives the list that reading all of it gives', async (t) => {
  const {smallRows} = candidateRule;
  candidateRule.smallRows = 20_000; // fewer are read into memory, where nothing is cut off
  t.after(() => {
    candidateRule.smallRows = smallRows;
  });
  const cutOff = new Set<string>();
  for (let seed = 1; seed <= 6; seed++) {
    const next = chance(seed * 6271);
    const crawl = await jobHarness(t);
    // Many hosts: then of a tie only the rows of least keys are read
    const wide = seed === 3 || seed === 4;
    const plain = seed <= 4; // the head suffices; with what comes after, not always
    const scoreOf = (depth: number) => {
      if (wide) return depth === 3 ? 0.5 : 0.85;
      return plain ? shrinkingScore(next, depth) : scores[next(5)]!;
    };
    const rows = randomRows(next, 20_001, scoreOf, wide ? 6000 : 12);
    await put(crawl, rows);
    await crawl.run(compact, {full: true}); // brings the ranks of scores
    const options = {
      ...defaultOptions(generate),
      topN: 10 + next(60),
      maxPerHost: plain ? 6 : next(3) === 0 ? undefined : 2 + next(12),
      maxPerSeed: !plain && next(4) === 0 ? 5 + next(30) : undefined,
      order: fetchOrders[seed % 2]!,
      refetchShare: plain ? 0.25 : [0, 0.25, 0.5, 1][next(4)]!,
      share: !plain && next(3) === 0 ? {news: '3'} : {},
    };
    const {counters} = await crawl.run(generate, options);
    const due = counters.urls_due_total ?? 0;
    const known = rows.filter(({status}) => status !== 'unfetched').length;
    if (due < rows.length)
      cutOff.add(
        `${options.order}, ${wide && due - known < (rows.length - known) / 2 ? 'of a tie' : 'by score'}`,
      );
    const urls = await crawl.sql<{url: string}>('SELECT url FROM fetchlist ORDER BY segment, rank');
    const expected = plainSelection(rows, {
      ...options,
      maxPerHost: options.maxPerHost ?? crawl.config.generate.max_per_host,
      maxPerDomain: null,
      maxPerSeed: options.maxPerSeed ?? null,
      shares: sharesOf(options.share),
    });
    assert.deepEqual(
      urls.map(({url}) => url),
      expected,
      `seed ${seed}: ${JSON.stringify(options)}`,
    );
  }
  assert.deepEqual(
    [...cutOff].sort(),
    ['best, by score', 'best, of a tie', 'breadth, by score', 'breadth, of a tie'],
    'not all was read',
  );
});

test('selection in SQL is selection told in plain words, for any caps, shares and orders', async (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const next = chance(seed * 7919);
    const late = seed % 2 === 0;
    const some = (count: number) => (next(3) === 0 ? 5 + next(count) : null);
    const budgets = seed > 4 ? {host: some(20), domain: some(60), seed: some(60)} : {};
    const yaml = Object.entries(budgets).flatMap(([level, most]) =>
      most === null ? [] : [`max_pages_per_${level}: ${most}`],
    );
    const crawl = await jobHarness(
      t,
      `${late ? 'schedule: {kind: change_rate}\n' : ''}budget: {${yaml.join(', ')}}\n`,
    );
    const rows = randomRows(next);
    await put(crawl, rows);
    const share = [{}, {news: '3'}, {news: '1', shop: '2.5', '*': '0.5'}][next(3)]!;
    const options = {
      ...defaultOptions(generate),
      topN: 20 + next(200),
      maxPerHost: next(2) === 0 ? undefined : 1 + next(20),
      maxPerDomain: next(2) === 0 ? undefined : 20 + next(40),
      maxPerSeed: next(2) === 0 ? undefined : 5 + next(50),
      order: fetchOrders[next(3)]!,
      refetchShare: [0, 0.25, 0.5, 1][next(4)]!,
      share,
    };
    const lateAt = crawl.effects.now();
    await crawl.run(generate, options);
    const urls = await crawl.sql<{url: string}>('SELECT url FROM fetchlist ORDER BY segment, rank');
    const expected = plainSelection(rows, {
      ...options,
      maxPerHost: options.maxPerHost ?? crawl.config.generate.max_per_host,
      maxPerDomain: options.maxPerDomain ?? null,
      maxPerSeed: options.maxPerSeed ?? null,
      shares: sharesOf(share),
      budgets,
      ...(late && {lateAt}),
    });
    assert.deepEqual(
      urls.map(({url}) => url),
      expected,
      `seed ${seed}, ${late ? 'by lateness' : 'by priority'}: ${JSON.stringify({...options, budgets})}`,
    );
    assert.ok(expected.length > 0);
  }
});
