import assert from 'node:assert/strict';
import {cp, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import type {ParseRow} from '../../lib/schema/parse.ts';
import type {CrashPoint} from '../../lib/store/crash-points.ts';
import {crawlProcess} from '../support/built-command.ts';
import {crawl, query} from '../support/command.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page, type SmallWeb} from '../support/small-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/**
 * The same as kill.test.ts for commands about the whole crawl, at the two points between which all is decided: before
 * the manifest is there, and after it, when no file has been moved to its place yet.
 */
const points: readonly CrashPoint[] = ['lists_written', 'manifest_created'];

const home = 'http://www.one.test/';
const web: SmallWeb = (url) =>
  url === home ? page('home', [`${home}a`, `${home}copy`]) : page(url.endsWith('.test/') ? url : 'same');

async function rounds(t: TestContext, seed: string): Promise<JobHarness> {
  const harness = await jobHarness(t, 'dedup:\n  exact: false\n');
  await harness.run(inject, {...defaultOptions(inject), urls: [seed]});
  for (let round = 0; round < 2; round++) {
    const {outcome} = await harness.run(generate, defaultOptions(generate));
    if (outcome === 'nothing') break;
    await fetchSegment(harness, (await harness.head()).segments.at(-1)!, web);
    await harness.run(updatedb, defaultOptions(updatedb));
    await harness.run(invertlinks, defaultOptions(invertlinks));
  }
  return harness;
}

/** What a crawl is, without times and names of runs and segments, which a merge may change. A seed that is put in again was known. */
const contents = [
  `SELECT 'seed' AS kind, text FROM seeds WHERE outcome <> 'known'`,
  `SELECT 'capture', url FROM captures`,
  `SELECT 'list', url FROM fetchlist`,
  `SELECT 'parse', concat_ws(' ', url, parse_id) FROM parse_all`,
  `SELECT 'row', concat_ws(' ', url, status, reason, depth, score, visits, duplicate_of, inlinks) FROM crawldb`,
  `SELECT 'link', concat_ws(' ', source_url, target_url) FROM linkdb`,
  `SELECT 'host', concat_ws(' ', url_host_name, urls, fetched, duplicates, pages_fetched) FROM hoststats`,
].join(' UNION ALL ');

const contentsOf = (dir: string) => query(dir, `FROM (${contents}) ORDER BY ALL`);

const manifests = async (dir: string): Promise<number> =>
  (await readdir(join(dir, 'manifests'))).filter((name) => name.endsWith('.json')).length;

test('commands about the whole crawl, killed before or after their manifest, leave it as before or as after', async (t) => {
  const harness = await rounds(t, home);
  const base = harness.dir;
  const other = await rounds(t, 'http://two.test/');
  const [segment] = (await harness.head()).segments;
  const pages = await harness.sql<ParseRow>(`SELECT * FROM parse WHERE segment = '${segment}'`);
  const trial = pages.map((row) => ({...row, parse_id: 'trial'}));
  await commitRows(harness, [{slot: `segments/${segment}/parse/trial`, table: 'parse', rows: trial}]);
  const unchanged = await contentsOf(base);
  for (const words of [
    ['dedup', '--set', 'dedup.exact=true'],
    ['drop', segment!, '--force'],
    ['parse', '--drop', 'trial'],
    ['sitemap', `${home}sitemap.xml`],
    ['rekey', '--set', 'url.strip_www=true'],
    ['merge', other.dir],
    ['mergesegs', '--where', "url NOT LIKE '%/a'"],
    ['rollback', '1'],
  ]) {
    const undisturbed = join(await temporaryFolder(t), 'undisturbed');
    await cp(base, undisturbed, {recursive: true});
    const done = await crawl([...words, '-C', undisturbed]);
    assert.equal(done.code, 0, `${words[0]}: ${done.stderr}`);
    const finished = await contentsOf(undisturbed);
    assert.notDeepEqual(finished, unchanged, `${words[0]} has something to do`);
    for (const point of points) {
      const dir = join(await temporaryFolder(t), point);
      await cp(base, dir, {recursive: true});
      const killed = await crawlProcess([...words, '-C', dir], {env: {CRAWL_CRASH_AT: point}});
      assert.equal(killed.signal, 'SIGKILL', `${words[0]} passes ${point}: ${killed.stderr}`);
      const after = (await manifests(dir)) > (await manifests(base));
      assert.equal(after, point === 'manifest_created');
      assert.deepEqual(await contentsOf(dir), after ? finished : unchanged, `${words[0]} killed at ${point}`);
      const again = await crawl([...words, '-C', dir]);
      // What was dropped cannot be dropped again
      assert.ok(
        again.code === 0 || (after && words.some((word) => word.endsWith('drop'))),
        `${words[0]} after ${point}: ${again.stderr}`,
      );
      assert.deepEqual(await contentsOf(dir), finished, `${words[0]} run again after ${point}`);
    }
  }
});
