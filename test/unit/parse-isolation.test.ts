import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import type {TaskContext} from '../../jobs/job.ts';
import {runTask} from '../../jobs/parse/task.ts';
import {parse} from '../../jobs/parse.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {AttemptStore} from '../../lib/store/task-store.ts';
import {jobHarness} from '../support/job-harness.ts';
import {captureRow, commitFetched} from '../support/parse-captures.ts';

const none = {segment: [], as: undefined, all: false, stale: false, where: undefined, with: []};
const html = ['Content-Type: text/html'];
const segment = '20260101000000';

test('a page that ended its thread is one row with the reason; the others are parsed', async (t) => {
  const crawl = await jobHarness(t);
  const samples = ['a', 'b', 'c'].map((name) => ({
    url: `https://example.org/${name}`,
    body: `<title>${name}</title>`,
    headers: html,
  }));
  await commitFetched(crawl, segment, samples);
  const store = await openCrawl(crawl.dir);
  const snapshot = await store.head();
  const plan = await parse.plan(none, {...crawl.effects, store, snapshot, config: crawl.config, run: 'r'});
  const [task] = plan!.tasks;
  const guarded: (string | null)[] = [];
  const ctx: TaskContext = {
    ...crawl.effects,
    run: 'r',
    attempt: 1,
    leaseOk: () => true,
    progress: () => undefined,
    guard: (key) => guarded.push(key),
    store: new AttemptStore({dir: crawl.dir, run: 'r', stage: 0, part: 0, attempt: 1}),
  };
  const bad = captureRow(segment, samples[1]!, 1).capture_id;
  const result = await runTask(
    {...task!, params: {...task!.params, skip: [{key: bad, reason: 'parse_timeout', detail: 'no end'}]}},
    ctx,
  );
  assert.equal(result.counters.captures_parsed_total, 2);
  assert.equal(result.counters.captures_failed_total, 1);
  assert.deepEqual(result.reasons, {parse_timeout: 1});
  assert.equal(guarded.includes(bad), false, 'the page is not touched again');
  assert.equal(guarded.at(-1), null, 'nothing is guarded while files are written');
});

test('the query for near-duplicates in docs/parse.md finds them', async (t) => {
  const crawl = await jobHarness(t);
  const words = Array.from({length: 400}, (_, at) => `word${(at * 7919) % 331}`);
  const page = (text: string): string => `<p>${text}</p>`;
  await commitFetched(crawl, segment, [
    {url: 'https://example.org/a', body: page(words.join(' ')), headers: html},
    {url: 'https://example.org/b', body: page([...words.slice(1), 'new'].join(' ')), headers: html},
    {url: 'https://example.org/c', body: page(words.join(' ').replaceAll('word', 'other')), headers: html},
  ]);
  await crawl.run(parse, none);
  const doc = readFileSync(join(import.meta.dirname, '../../docs/parse.md'), 'utf8');
  const [, query] = /```sql\n([\s\S]*?)```/.exec(doc)!;
  const rows = await crawl.sql(query!.trim().replace(/;$/, ''));
  assert.equal(rows.length, 1);
});
