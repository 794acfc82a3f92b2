import assert from 'node:assert/strict';
import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {defaultOptions} from '../../cli/rounds.ts';
import {dropParse} from '../../jobs/parse/drop.ts';
import {parse} from '../../jobs/parse.ts';
import {collectGarbage} from '../../lib/store/garbage.ts';
import {crawl as command} from '../support/cli.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {commitFetched} from '../support/parse-captures.ts';

const [one, two] = ['20260101000000', '20260102000000'] as const;

/** Two segments, parsed twice: the second time as `trial`, with an extractor. */
async function parsedTwice(t: TestContext): Promise<{crawl: JobHarness; first: string}> {
  const crawl = await jobHarness(t);
  for (const [segment, host] of [
    [one, 'a.test'],
    [two, 'b.test'],
  ] as const)
    await commitFetched(crawl, segment, [
      {
        url: `http://${host}/`,
        body: '<h1>A heading</h1><a href=/x>x</a>',
        headers: ['Content-Type: text/html'],
      },
    ]);
  await writeFile(join(crawl.dir, 'heads.yaml'), 'rows: h1\ncolumns:\n  head:\n    required: true\n');
  await ok(crawl, 'parse');
  const first = (await crawl.head()).segment(one).current!;
  await ok(crawl, 'parse', '--all', '--as', 'trial', '--with', join(crawl.dir, 'heads.yaml'));
  return {crawl, first};
}

async function ok(crawl: JobHarness, ...argv: string[]): Promise<string> {
  const {code, stdout, stderr} = await command(crawl.dir, argv);
  assert.equal(code, 0, stderr);
  return stdout === '' ? stderr : stdout;
}

async function refused(crawl: JobHarness, ...argv: string[]): Promise<string> {
  const {code, stderr} = await command(crawl.dir, argv);
  assert.equal(code, 2, stderr);
  return stderr;
}

const named = async (crawl: JobHarness, name: string): Promise<string[]> =>
  Object.keys((await crawl.head()).manifest.slots).filter((slot) => slot.endsWith(`/${name}`));

test('--drop removes a parse with its links and the rows of extractors; its files go when no manifest names them', async (t) => {
  const {crawl} = await parsedTwice(t);
  const before = (await crawl.head()).manifest.number;
  assert.equal((await named(crawl, 'trial')).length, 8);
  assert.match(await ok(crawl, 'parse', '--drop', 'trial', one), /parse trial: removed from 1 segment/);
  assert.deepEqual(
    (await named(crawl, 'trial')).filter((slot) => slot.includes(one)),
    [],
  );
  assert.match(await ok(crawl, 'parse', '--drop', 'trial'), /parse trial: removed from 1 segment/);
  assert.deepEqual(await named(crawl, 'trial'), []);
  assert.match(await refused(crawl, 'parse', '--drop', 'trial'), /no parse trial/);
  assert.deepEqual(await crawl.sql('SELECT count(*)::INTEGER AS n FROM outlinks_all'), [{n: 2}]);

  // As it was, until the manifests that say so are gone.
  const asOf = ['sql', '--as-of', String(before), '--format', 'csv', 'SELECT count(*) AS n FROM parse_all'];
  assert.equal(await ok(crawl, ...asOf), 'n\n4\n');
  const retention = {now: Date.now() + 2 * 86_400_000, keepMs: 0, minManifests: 1};
  await collectGarbage(await crawl.head(), retention);
  const left = await readdir(crawl.dir, {recursive: true});
  assert.deepEqual(
    left.filter((name) => name.endsWith('.parquet') && name.includes('trial')),
    [],
  );
  assert.deepEqual(await crawl.sql('SELECT count(*)::INTEGER AS n FROM outlinks'), [{n: 2}]);
});

test('a parse that is current, or whose links the crawldb has, is not removed', async (t) => {
  const {crawl, first} = await parsedTwice(t);
  assert.match(
    await refused(crawl, 'parse', '--drop', first),
    new RegExp(`parse ${first} is current in ${one}, ${two}`),
  );
  await commitRows(crawl, [], {[one]: {applied: first, inverted: first}});
  await ok(crawl, 'parse', '--use', 'trial');
  const told = await ok(crawl, 'parse', '--drop', first);
  assert.match(told, new RegExp(`segment ${one} keeps ${first}: its links are in the crawldb`));
  assert.match(told, /removed from 1 segment/);
  assert.match(await refused(crawl, 'parse', '--drop', first), /applied to the crawldb in 20260101000000/);
  assert.match(await refused(crawl, 'parse', '--drop', first, two), /have no parse/);

  // Applied anew the crawldb stands on another one. What invertlinks had seen is another parse than a later one of that name.
  await commitRows(crawl, [], {[one]: {applied: 'trial'}});
  await ok(crawl, 'parse', '--drop', first);
  assert.equal((await crawl.head()).segment(one).inverted, null);
  assert.deepEqual(await named(crawl, first), []);
});

test('a named parse is replaced only while the crawldb has not taken its links; invertlinks sees the new one', async (t) => {
  const {crawl} = await parsedTwice(t);
  await ok(crawl, 'parse', '--use', 'trial');
  await commitRows(crawl, [], {[one]: {inverted: 'trial'}, [two]: {inverted: 'trial'}});
  await ok(crawl, 'parse', one, '--as', 'trial');
  const head = await crawl.head();
  assert.deepEqual([head.segment(one).inverted, head.segment(two).inverted], [null, 'trial']);
  await commitRows(crawl, [], {[two]: {applied: 'trial'}});
  const before = (await crawl.head()).manifest.number;
  assert.match(
    await refused(crawl, 'parse', '--all', '--as', 'trial'),
    /the crawldb has the links of parse trial, so it cannot be replaced[\s\S]*another name/,
  );
  assert.equal((await crawl.head()).manifest.number, before);
});

test('rows of extractors do not outlive a parse that is dropped while they are made, lock or no lock', async (t) => {
  const {crawl} = await parsedTwice(t);
  await writeFile(join(crawl.dir, 'links.yaml'), 'rows: a\ncolumns:\n  link:\n    required: true\n');
  let plans = 0;
  const dropsAfterPlanning: typeof parse = {
    ...parse,
    async plan(options, effects) {
      const plan = await parse.plan(options, effects);
      if (plans++ === 0) await crawl.run({...dropParse, locks: () => []}, {drop: 'trial', segment: []});
      return plan;
    },
  };
  const options = {...defaultOptions(parse), as: 'trial', with: [join(crawl.dir, 'links.yaml')]};
  await crawl.run(dropsAfterPlanning, options);
  assert.equal(plans, 2);
  const slots = await named(crawl, 'trial');
  const parses = slots.filter((slot) => slot.includes('/parse/'));
  const extractions = slots.filter((slot) => slot.includes('/extractions/links/'));
  assert.equal(parses.length, 2);
  assert.equal(extractions.length, 2);
});

test('--drop refuses what it does not do', async (t) => {
  const {crawl} = await parsedTwice(t);
  for (const more of [['--use', 'trial'], ['--list'], ['--all'], ['--as', 'x']])
    assert.match(await refused(crawl, 'parse', '--drop', 'trial', ...more), /go with no other option/);
  assert.match(await refused(crawl, 'parse', '--drop', 'trail'), /did you mean trial/);
  const plan = JSON.parse(await ok(crawl, 'parse', '--drop', 'trial', '--dry-run')) as {
    tasks: {params: {dropped: string[]}}[];
  };
  assert.deepEqual(plan.tasks[0]?.params.dropped, [one, two]);
  assert.equal((await named(crawl, 'trial')).length, 8);
});
