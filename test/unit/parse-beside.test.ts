import assert from 'node:assert/strict';
import {test} from 'node:test';
import {cutRanges} from '../../jobs/parse/where.ts';
import {crawl as command} from '../support/cli.ts';
import {type JobHarness, jobHarness} from '../support/job-harness.ts';
import {commitFetched} from '../support/parse-captures.ts';

/** Two segments; their pages have more text and links than a parse with small limits keeps. */
async function twoSegments(t: Parameters<typeof jobHarness>[0]): Promise<JobHarness> {
  const crawl = await jobHarness(t);
  for (const [segment, host] of [
    ['20260101000000', 'a.test'],
    ['20260102000000', 'b.test'],
  ] as const)
    await commitFetched(
      crawl,
      segment,
      ['one', 'two', 'three'].map((name) => ({
        url: `http://${host}/${name}`,
        body: `<title>${name}</title><p>Some words of page ${name}</p><a href=/x/${name}>x</a> <a href=/y/${name}>y</a>`,
        headers: [name === 'three' ? 'Content-Type: text/plain' : 'Content-Type: text/html'],
      })),
    );
  return crawl;
}

const small = ['--set', 'links.max_per_page=1', '--set', 'parse.max_text=30'];

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

const jsonRows = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('a parse beside the current one: SQL sees either, a comparison tells them apart, --use switches', async (t) => {
  const crawl = await twoSegments(t);
  await ok(crawl, 'parse');
  const first = (await crawl.head()).segment('20260101000000').current!;
  await ok(crawl, 'parse', '20260101000000', '--as', 'trial', ...small);

  // By default the current parse, any by its name.
  const links = (...more: string[]): Promise<string> =>
    ok(crawl, 'sql', '--format', 'csv', ...more, 'SELECT count(*) AS n FROM outlinks');
  assert.equal(await links(), 'n\n8\n');
  assert.equal(await links('--parse', 'trial'), 'n\n2\n');
  const beside = `SELECT a.url, len(a.text) AS a, len(b.text) AS b FROM parse a JOIN parse_of('trial') b USING (capture_id)
    WHERE a.text <> b.text ORDER BY a.url`;
  assert.deepEqual(jsonRows(await ok(crawl, 'sql', '--json', beside)), [
    {url: 'http://a.test/three', a: 96, b: 30},
  ]);
  assert.match(
    await refused(crawl, 'sql', '--parse', 'trail', 'FROM parse'),
    /no parse trail; did you mean trial/,
  );

  const summary = new Map(
    jsonRows(await ok(crawl, 'parse-diff', first, 'trial', '--json')).map((row) => [row.what, row]),
  );
  assert.deepEqual(summary.get('pages'), {what: 'pages', changed: 3, of: 3, example: null});
  assert.equal(summary.get('links_removed')?.changed, 2);
  assert.equal(summary.get('title'), undefined);
  assert.equal(summary.get('only_a'), undefined, 'the segment that lacks the second is not compared');
  const changed = jsonRows(await ok(crawl, 'parse-diff', 'trial', '--show', 'pages', '--json'));
  assert.deepEqual(
    changed.map(({url, links_added, title_a, title_b}) => [url, links_added, title_a, title_b]),
    [
      ['http://a.test/one', 1, 'one', 'one'],
      ['http://a.test/three', 0, null, null],
      ['http://a.test/two', 1, 'two', 'two'],
    ],
  );
  const added = jsonRows(await ok(crawl, 'parse-diff', 'trial', '--show', 'links', '--json'));
  assert.deepEqual(
    added.map(({url, change, target, accepted_a, accepted_b}) => [
      url,
      change,
      target,
      accepted_a,
      accepted_b,
    ]),
    ['one', 'two'].map((name) => [`http://a.test/${name}`, 'added', `http://a.test/y/${name}`, null, true]),
  );

  // The segment without the name keeps its parse, and is told.
  const told = await ok(crawl, 'parse', '--use', 'trial');
  assert.match(told, new RegExp(`segment 20260102000000 has no such parse; it keeps ${first}`));
  assert.match(told, /parse trial: current in 1 segment/);
  assert.equal(await links(), 'n\n6\n');
  assert.match(await ok(crawl, 'parse', '--use', 'trial'), /nothing to switch/);

  // A parse that was chosen stays, whatever is stale.
  await ok(crawl, 'parse', '--stale', ...small);
  const head = await crawl.head();
  assert.equal(head.segment('20260101000000').current, 'trial');
  assert.notEqual(head.segment('20260102000000').current, first);

  const list = jsonRows(await ok(crawl, 'parse', '--list', '--json'));
  assert.deepEqual(
    list.map(({segment, parse, current, captures, complete}) => [
      segment,
      parse,
      current,
      captures,
      complete,
    ]),
    [
      ['20260101000000', 'trial', true, 3, true],
      ['20260101000000', first, false, 3, true],
      ['20260102000000', first, false, 3, true],
      ['20260102000000', head.segment('20260102000000').current, true, 3, true],
    ].sort(([a, b], [c, d]) => (`${a}${b}` < `${c}${d}` ? -1 : 1)),
  );
});

test('--where reads some captures under a name, which cannot stand for its segments', async (t) => {
  const crawl = await twoSegments(t);
  await ok(crawl, 'parse');
  const {current} = (await crawl.head()).segment('20260101000000');
  const where =
    "content_mime_detected = 'text/html' AND title IN ('two', 'three') AND url LIKE 'http://a%' -- mine";
  await ok(crawl, 'parse', '--as', 'some', '--where', where);
  assert.deepEqual(await crawl.sql(`SELECT url, title FROM parse_all WHERE parse_id = 'some'`), [
    {url: 'http://a.test/two', title: 'two'},
  ]);
  const head = await crawl.head();
  assert.equal(head.segment('20260101000000').current, current);
  assert.equal(head.manifest.slots['segments/20260102000000/parse/some'], undefined);
  const listed = jsonRows(await ok(crawl, 'parse', '--list', '--json')).find(({parse}) => parse === 'some');
  assert.deepEqual([listed?.captures, listed?.complete, listed?.where], [1, false, where]);
  const [difference] = jsonRows(await ok(crawl, 'parse-diff', 'some', '--show', 'pages', '--json'));
  assert.equal(
    difference?.changes,
    'only_b',
    'captures that were not chosen are told apart from changed ones',
  );

  assert.match(await refused(crawl, 'parse', '--use', 'some'), /has only some captures of 20260101000000/);
  assert.match(await refused(crawl, 'parse', '--where', 'true'), /name the result with --as/);
  assert.match(await refused(crawl, 'parse', '--all', '--stale'), /give one of them/);
  assert.match(await refused(crawl, 'parse', '--as', current!, '--where', 'true'), /is the whole parse/);
  for (const wrong of ['', 'true; DROP TABLE x', 'nonsense = 1'])
    assert.match(await refused(crawl, 'parse', '--as', 'x', '--where', wrong), /--where/);
  assert.match(await ok(crawl, 'parse', '--as', 'x', '--where', 'false'), /nothing to parse/);

  // Parsed whole under that name it can stand for them.
  await ok(crawl, 'parse', '--as', 'some', '--all');
  assert.match(await ok(crawl, 'parse', '--use', 'some'), /current in 2 segments/);
});

test('--use and --list refuse what they do not do', async (t) => {
  const crawl = await twoSegments(t);
  assert.match(await refused(crawl, 'parse', '--use', 'x'), /no parse x/);
  await ok(crawl, 'parse');
  for (const more of [['--as', 'y'], ['--all'], ['--list'], ['--where', 'true']])
    assert.match(await refused(crawl, 'parse', '--use', 'x', ...more), /go with no other option/);
});

test('ranges of rows are cut into tasks of a size, none lost', () => {
  assert.deepEqual(
    cutRanges(
      [
        [0, 3],
        [5, 6],
        [9, 12],
      ],
      4,
    ),
    [
      [
        [0, 3],
        [5, 6],
      ],
      [[9, 12]],
    ],
  );
  assert.deepEqual(cutRanges([[0, 10]], 4), [[[0, 4]], [[4, 8]], [[8, 10]]]);
  assert.deepEqual(cutRanges([], 4), []);
});
