import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {test} from 'node:test';
import {inject} from '../../jobs/inject.ts';
import {linkrank} from '../../jobs/linkrank.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import {graphBuilder} from '../../lib/rank/graph-builder.ts';
import {pageRank} from '../../lib/rank/page-rank.ts';
import type {Inlink} from '../../lib/schema/linkdb.ts';
import {identify} from '../../lib/url/keys.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {checkStatistics} from '../support/crawldb-statistics.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';

type Links = readonly (readonly [source: string, target: string])[];

/**
 * PageRank by another road: ranks are pushed along links, in place (Gauss and Southwell), until no node holds back more
 * than a trifle, with a node of their own for dead ends. Scaled to add up to 1 at the end.
 */
function pushedRanks(links: Links, damping: number): Map<string, number> {
  const out = new Map<string, Set<string>>();
  for (const [source, target] of links) {
    if (!out.has(source)) out.set(source, new Set());
    if (!out.has(target)) out.set(target, new Set());
    if (source !== target) out.get(source)!.add(target);
  }
  const nodes = [...out.keys()];
  const rank = new Map(nodes.map((node) => [node, 0]));
  const held = new Map(nodes.map((node) => [node, (1 - damping) / nodes.length]));
  for (let deadEnds = 0, pushed = true; pushed; ) {
    pushed = false;
    for (const node of nodes) {
      const amount = held.get(node)!;
      if (amount < 1e-16) continue;
      pushed = true;
      held.set(node, 0);
      rank.set(node, rank.get(node)! + amount);
      const targets = out.get(node)!;
      for (const target of targets) held.set(target, held.get(target)! + (damping * amount) / targets.size);
      if (targets.size === 0) deadEnds += damping * amount;
    }
    if (deadEnds > 1e-14) {
      for (const node of nodes) held.set(node, held.get(node)! + deadEnds / nodes.length);
      deadEnds = 0;
      pushed = true;
    }
  }
  const total = [...rank.values()].reduce((sum, value) => sum + value, 0);
  return new Map([...rank].map(([node, value]) => [node, value / total]));
}

function linkRow(source: string, target: string): Inlink {
  const from = identify(source);
  const to = identify(target);
  return {
    target_host_key: to.host_key,
    target_url_key: to.url_key,
    target_url: target,
    source_host_key: from.host_key,
    source_url_key: from.url_key,
    source_url: source,
    anchor: null,
    rel: null,
    kind: 'a',
    links: 1,
    internal: from.host_key === to.host_key,
    fetch_time: new Date(0),
    segment: '20260101000000',
    revision: null,
    cut: null,
  };
}

const put = (crawl: JobHarness, links: Links) =>
  commitRows(crawl, [
    {slot: 'linkdb', table: 'linkdb', rows: links.map(([source, target]) => linkRow(source, target))},
  ]);

const options = {...defaultOptions(linkrank), tolerance: 1e-12, iterations: 1000};

const ranksOf = async (crawl: JobHarness, level: string) =>
  new Map(
    (
      await crawl.sql<{name: string; rank: number}>(
        `SELECT name, rank FROM linkrank WHERE level = '${level}'`,
      )
    ).map(({name, rank}) => [name, rank]),
  );

function assertSame(found: ReadonlyMap<string, number>, wanted: ReadonlyMap<string, number>): void {
  assert.deepEqual([...found.keys()].sort(), [...wanted.keys()].sort());
  for (const [name, rank] of wanted)
    assert.ok(Math.abs(found.get(name)! / rank - 1) < 1e-6, `${name}: ${found.get(name)} for ${rank}`);
}

test('ranks of the political blogs are those of an independent implementation, to 1e-6 of each', {
  skip: withoutCorpus('graph/polblogs.gml'),
}, async (t) => {
  const text = await readFile(corpus('graph/polblogs.gml')!, 'utf8');
  const edges = [...text.matchAll(/edge \[\s+source (\d+)\s+target (\d+)/g)].map(
    ([, source, target]) => [`http://blog${source}.test/`, `http://blog${target}.test/`] as const,
  );
  assert.ok(edges.length > 19_000);
  const links = [...new Map(edges.map((edge) => [edge.join(' '), edge])).values()];
  const crawl = await jobHarness(t);
  await put(crawl, links);
  const report = await crawl.run(linkrank, options);
  const pages = await ranksOf(crawl, 'page');
  assertSame(pages, pushedRanks(links, 0.85));
  // A page a host: the host graph is the same graph
  const hosts = await ranksOf(crawl, 'host');
  for (const [url, rank] of pages)
    assert.ok(Math.abs(hosts.get(new URL(url).hostname)! / rank - 1) < 1e-9, url);
  const [sums] = await crawl.sql<{rank: number; score: number; links: number}>(
    `SELECT sum(rank) AS rank, avg(score) AS score, sum(outlinks)::INTEGER AS links FROM linkrank WHERE level = 'page'`,
  );
  assert.ok(Math.abs(sums!.rank - 1) < 1e-9 && Math.abs(sums!.score - 1) < 1e-9);
  assert.equal(sums?.links, links.filter(([source, target]) => source !== target).length);
  assert.equal(report.counters.ranks_total, pages.size * 3);

  // The same graph gives the same bits
  const before = (await (await crawl.head()).files('linkrank')).map(({sha256}) => sha256);
  await crawl.run(linkrank, options);
  assert.deepEqual(
    (await (await crawl.head()).files('linkrank')).map(({sha256}) => sha256),
    before,
  );
});

const small: Links = [
  ['http://a.one.test/1', 'http://a.one.test/2'],
  ['http://a.one.test/1', 'http://b.one.test/'],
  ['http://a.one.test/2', 'http://a.one.test/1'],
  ['http://a.one.test/2', 'http://two.test/'],
  ['http://b.one.test/', 'http://two.test/'],
  ['http://two.test/', 'http://two.test/'],
];

test('pages are named some hosts at a time: the rows are those of all at once', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, small);
  await crawl.run(inject, {...defaultOptions(inject), urls: ['http://b.one.test/']});
  const rows = () => crawl.sql(`FROM linkrank WHERE level = 'page' ORDER BY host_key, url_key`);
  await crawl.run(linkrank, options);
  const atOnce = await rows();
  assert.equal(atOnce.length, 4);
  const oneByOne: typeof linkrank = {
    ...linkrank,
    async plan(given, effects) {
      const plan = await linkrank.plan(given, effects);
      return (
        plan && {
          ...plan,
          tasks: plan.tasks.map((task) => ({...task, params: {...task.params, namedAtOnce: 1}})),
        }
      );
    },
  };
  await crawl.run(oneByOne, options);
  assert.deepEqual(await rows(), atOnce);
  assert.ok(
    (await (await crawl.head()).files('linkrank')).length > 3,
    'a file for each range of hosts, and two levels',
  );
});

test('hosts and domains are ranked by their own graphs; links within a host can be left out', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, small);
  await crawl.run(linkrank, {...options, internal: false});
  assertSame(await ranksOf(crawl, 'page'), pushedRanks(small.slice(1, 2).concat(small.slice(3, 5)), 0.85));
  assertSame(
    await ranksOf(crawl, 'host'),
    pushedRanks(
      [
        ['a.one.test', 'b.one.test'],
        ['a.one.test', 'two.test'],
        ['b.one.test', 'two.test'],
      ],
      0.85,
    ),
  );
});

test('--set-score makes ranks the scores of known pages and leaves other rows alone', async (t) => {
  const crawl = await jobHarness(t);
  const found = {
    score: 3,
    depth: 0,
    seed: null,
    tag: null,
    hopType: 'I',
    time: new Date(0),
    from: null,
  } as const;
  const rows = ['http://two.test/', 'http://unlinked.test/'].map((url) =>
    newRow(identify(url), {...found, intervalS: 3600}, 1),
  );
  await commitRows(crawl, [{slot: 'crawldb', table: 'crawldb', rows, facts: {kind: 'base'}}]);
  await put(crawl, small);
  const report = await crawl.run(linkrank, {...options, setScore: true});
  await checkStatistics(crawl);
  assert.equal(report.counters.rows_updated_total, 1);
  const [two] = await crawl.sql<{score: number}>(
    `SELECT score FROM linkrank WHERE name = 'http://two.test/'`,
  );
  const scores = new Map((await crawl.crawldb()).map(({url, score}) => [url, score]));
  assert.equal(scores.get('http://two.test/'), two?.score);
  assert.equal(scores.get('http://unlinked.test/'), 3);
});

test('nothing to rank, a wrong level, and an end before it converges are said', async (t) => {
  const crawl = await jobHarness(t);
  assert.equal((await crawl.run(linkrank, options)).outcome, 'nothing');
  await put(crawl, small);
  await assert.rejects(crawl.run(linkrank, {...options, levels: ['site']}), /no level site/);
  await assert.rejects(
    crawl.run(linkrank, {...options, levels: ['host'], setScore: true}),
    /needs the level page/,
  );
  const report = await crawl.run(linkrank, {...options, levels: ['page'], iterations: 2});
  assert.deepEqual(
    ((report.facts[0]?.levels ?? []) as {converged: boolean; iterations: number}[]).map(
      ({converged, iterations}) => [converged, iterations],
    ),
    [[false, 2]],
  );
  // A crawl of one host has no graph of hosts: no rows, no error
  await put(crawl, small.slice(0, 1));
  await crawl.run(linkrank, options);
  assert.equal((await ranksOf(crawl, 'host')).size, 0);
});

test('dead ends, cycles and graphs without links', () => {
  const rules = {damping: 0.85, tolerance: 1e-14, maxIterations: 1000};
  const rank = (nodes: number, links: readonly (readonly [number, number])[]) => {
    const builder = graphBuilder(nodes, links.length);
    for (const [source, target] of links) builder.add(source, target);
    return [...pageRank(builder.finish(), rules).ranks];
  };
  assert.deepEqual(rank(0, []), []);
  assert.deepEqual(rank(2, []), [0.5, 0.5]);
  for (const value of rank(3, [
    [2, 0],
    [0, 1],
    [1, 2],
  ]))
    assert.ok(Math.abs(value - 1 / 3) < 1e-12);
  // One link into a dead end: r1 = r0 (1 + d), by hand
  const [r0, r1] = rank(2, [[0, 1]]) as [number, number];
  assert.ok(Math.abs(r1 / r0 - 1.85) < 1e-12 && Math.abs(r0 + r1 - 1) < 1e-12);
  assert.throws(
    () =>
      rank(2, [
        [0, 1],
        [1, 0],
      ]),
    /out of order/,
  );
});
