import assert from 'node:assert/strict';
import {cp, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {type CrashPoint, crashPoints} from '../../lib/store/crash-points.ts';
import {crawlProcess} from '../support/built-command.ts';
import {crawl, query} from '../support/command.ts';
import {type ServedWeb, serveWeb} from '../support/served-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/**
 * Each job is killed at each crash point that it passes: the crawl is as before or as after, and running the job
 * again completes it, to the same tables as an undisturbed run.
 */
const pages: Record<string, string> = {
  '/': '<title>Home</title><a href="/a">A</a> <a href="/b">B</a> <a href="/copy">C</a> <a href="/none">none</a>',
  '/a': '<title>A</title><p>same</p><a href="/">home</a>',
  '/copy': '<title>A</title><p>same</p><a href="/">home</a>',
  '/b': '<title>B</title><a href="/c">C</a>',
  '/c': '<title>C</title>',
};

/** What a crawl is, without what differs from run to run: times, run and segment names. */
const contents: Record<string, string> = {
  // An inject that is run again says of each line that it was known
  seeds: `SELECT text, outcome, reason FROM seeds WHERE outcome <> 'known'`,
  fetchlist: 'SELECT url, rank, selected_as FROM fetchlist',
  fetch: 'SELECT url, kind, status, reason, fetch_status, content_digest FROM captures',
  content: 'SELECT content_sha256, content_length FROM content',
  parse: 'SELECT url, status, title, hex(text_signature) AS signature FROM parse',
  outlinks: 'SELECT from_url, to_url, accepted, reason FROM outlinks',
  crawldb: 'SELECT url, status, reason, depth, score, retries, visits, duplicate_of, inlinks FROM crawldb',
  linkdb: 'SELECT source_url, target_url, anchor FROM linkdb',
  hoststats: 'SELECT url_host_name, urls, fetched, pages_fetched FROM hoststats',
};

/** All tables by one query, since a session for each would take most of the test's time. */
async function contentsOf(dir: string): Promise<Record<string, string[]>> {
  const columns = Object.entries(contents).map(
    ([table, sql]) => `(SELECT list(to_json(r)::VARCHAR) FROM (${sql}) r) AS "${table}"`,
  );
  const [row] = await query<Record<string, string[] | null>>(dir, `SELECT ${columns.join(', ')}`);
  return Object.fromEntries(Object.entries(row!).map(([table, rows]) => [table, (rows ?? []).sort()]));
}

const manifests = async (dir: string): Promise<number> =>
  (await readdir(join(dir, 'manifests'))).filter((name) => name.endsWith('.json')).length;

/** A crawl on which each of the jobs has something to do, and the command that does it. */
const jobs: readonly {name: string; before: readonly (readonly string[])[]; command: readonly string[]}[] = [
  {name: 'inject', before: [], command: ['inject', 'http://one.test/']},
  {name: 'generate', before: [['inject', 'http://one.test/']], command: ['generate']},
  {
    name: 'fetch',
    before: [['inject', 'http://one.test/'], ['run', '--rounds', '1'], ['generate']],
    command: ['fetch', '--no-parse'],
  },
  {
    name: 'parse',
    before: [['inject', 'http://one.test/'], ['generate'], ['fetch', '--no-parse']],
    command: ['parse'],
  },
  {
    name: 'updatedb',
    before: [['inject', 'http://one.test/'], ['run', '--rounds', '1'], ['generate'], ['fetch']],
    command: ['updatedb'],
  },
  {
    name: 'invertlinks',
    before: [['inject', 'http://one.test/'], ['generate'], ['fetch'], ['updatedb']],
    command: ['invertlinks'],
  },
  {
    name: 'compact',
    before: [
      ['inject', 'http://one.test/'],
      ['run', '--rounds', '2'],
    ],
    command: ['compact', '--full'],
  },
];

async function prepared(
  t: TestContext,
  web: ServedWeb,
  before: readonly (readonly string[])[],
): Promise<string> {
  const dir = join(await temporaryFolder(t), 'crawl');
  assert.equal((await crawl(['init', dir])).code, 0);
  for (const words of before) {
    const {code, stderr} = await crawl([...words, '-C', dir, ...web.flags]);
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
  }
  return dir;
}

for (const {name, before, command} of jobs)
  test(`${name} killed at each crash point leaves the crawl as before or as after, and completes when run again`, async (t) => {
    const web = await serveWeb(t, (_host, path) => pages[path]);
    const base = await prepared(t, web, before);
    const unchanged = await contentsOf(base);
    const undisturbed = join(await temporaryFolder(t), 'undisturbed');
    await cp(base, undisturbed, {recursive: true});
    assert.equal((await crawl([...command, '-C', undisturbed, ...web.flags])).code, 0);
    const finished = await contentsOf(undisturbed);
    // A compaction changes files, and no row
    if (name === 'compact') assert.deepEqual(finished, unchanged);
    else assert.notDeepEqual(finished, unchanged, 'the job has something to do');
    assert.ok((await manifests(undisturbed)) > (await manifests(base)), 'the job has done something');

    const passed: CrashPoint[] = [];
    for (const point of crashPoints) {
      const dir = join(await temporaryFolder(t), point);
      await cp(base, dir, {recursive: true});
      const killed = await crawlProcess([...command, '-C', dir, ...web.flags], {
        env: {CRAWL_CRASH_AT: point},
      });
      if (killed.signal === null) {
        assert.equal(killed.code, 0, killed.stderr); // the job does not pass this point
        continue;
      }
      assert.equal(killed.signal, 'SIGKILL');
      passed.push(point);
      const after = (await manifests(dir)) > (await manifests(base));
      const left = await contentsOf(dir);
      assert.deepEqual(left, after ? finished : unchanged, `${name} killed at ${point}`);
      const again = await crawl([...command, '-C', dir, ...web.flags]);
      // A generate that was complete locked its URLs, so that another finds nothing
      assert.ok(
        again.code === 0 || (name === 'generate' && after && again.code === 3),
        `${name} after ${point}: ${again.stderr}`,
      );
      assert.deepEqual(await contentsOf(dir), finished, `${name} run again after ${point}`);
    }
    const always: CrashPoint[] = [
      'plan_written',
      'task_files_written',
      'task_result_written',
      'lists_written',
      'manifest_created',
      'first_file_placed',
      'files_placed',
    ];
    assert.deepEqual(
      passed,
      crashPoints.filter(
        (point) =>
          always.includes(point) ||
          (name === 'fetch' && point.startsWith('journal_')) ||
          (['compact', 'invertlinks'].includes(name) && point === 'bucket_written'),
      ),
    );
  });
