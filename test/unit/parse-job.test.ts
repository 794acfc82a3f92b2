import assert from 'node:assert/strict';
import {availableParallelism} from 'node:os';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {parse} from '../../jobs/parse.ts';
import {commitRows, jobHarness} from '../support/job-harness.ts';
import {captureRow, commitFetched} from '../support/parse-captures.ts';

const none = {segment: [], as: undefined, all: false, stale: false, where: undefined, with: []};
const html = ['Content-Type: text/html; charset=utf-8'];

const page = `<!doctype html><html lang=de><head><title> A  page </title>
<link rel=canonical href="/a?utm_source=x"><meta name=robots content="noarchive">
<meta name=description content="What it is"></head>
<body><h1>Über uns</h1><p>Some text</p><a href="/b">the b</a> <a rel=nofollow href="/c">c</a>
<a href="mailto:x@example.org">mail</a><img src="i.png"></body></html>`;

test('captures become rows, links become rows with their reason', async (t) => {
  const crawl = await jobHarness(t);
  await commitFetched(crawl, '20260101000000', [
    {url: 'https://example.org/a', body: gzipSync(page), headers: [...html, 'Content-Encoding: gzip']},
    {url: 'https://example.org/again', body: gzipSync(page), headers: [...html, 'Content-Encoding: gzip']},
    {url: 'https://example.org/picture', body: Buffer.from('GIF89a'), headers: ['Content-Type: image/gif']},
    {url: 'https://example.org/empty', body: '', headers: html},
    {
      url: 'https://example.org/old',
      status: 'redir_perm',
      reason: 'redirect',
      fetch_redirect: 'https://example.org/new',
      depth: 3,
    },
    {url: 'https://example.org/robots.txt', kind: 'robots', body: 'User-agent: *', headers: html},
    {url: 'https://example.org/gone', status: 'gone', reason: 'http_404', body: page, headers: html},
  ]);
  const report = await crawl.run(parse, none);
  assert.equal(report.outcome, 'done');
  assert.equal(report.counters.captures_parsed_total, 2);
  assert.equal(report.counters.captures_skipped_total, 2);

  const rows = await crawl.sql<Record<string, unknown>>('SELECT * FROM parse ORDER BY url');
  assert.deepEqual(
    rows.map(({url, status, reason}) => [url, status, reason]),
    [
      ['https://example.org/a', 'success', null],
      ['https://example.org/again', 'success', null],
      ['https://example.org/empty', 'skipped', 'empty'],
      ['https://example.org/picture', 'skipped', 'type_unsupported'],
    ],
  );
  const first = rows[0]!;
  assert.equal(first.title, 'A page');
  assert.equal(first.description, 'What it is');
  assert.equal(first.lang_declared, 'de');
  assert.equal(first.content_charset, 'utf-8');
  assert.equal(first.charset_source, 'transport');
  assert.equal(first.canonical_url, 'https://example.org/a');
  assert.equal(first.robots_noarchive, true);
  assert.equal(first.headings, '[{"level":1,"text":"Über uns"}]');
  assert.equal(first.text, 'Über uns\nSome text\nthe b c mail');
  assert.deepEqual(first.signature, rows[1]!.signature);
  assert.deepEqual(first.simhash, rows[1]!.simhash);
  assert.equal(first.outlinks, 5);
  assert.equal(rows[3]!.content_mime_detected, 'image/gif');

  const links = await crawl.sql<Record<string, unknown>>(
    `SELECT * FROM outlinks WHERE from_url = 'https://example.org/a' ORDER BY position`,
  );
  assert.deepEqual(
    links.map(({to_url, kind, hop_type, anchor, accepted, reason, depth}) => [
      to_url,
      kind,
      hop_type,
      anchor,
      accepted,
      reason,
      depth,
    ]),
    [
      ['https://example.org/a', 'canonical', 'L', null, true, null, 1],
      ['https://example.org/b', 'a', 'L', 'the b', true, null, 1],
      ['https://example.org/c', 'a', 'L', 'c', false, 'nofollow', 1],
      ['mailto:x@example.org', 'a', 'L', 'mail', false, 'scheme', 1],
      ['https://example.org/i.png', 'img', 'E', null, false, 'embed_off', 1],
    ],
  );
  const redirects = await crawl.sql<Record<string, unknown>>(`SELECT * FROM outlinks WHERE hop_type = 'R'`);
  assert.equal(redirects.length, 1);
  assert.equal(redirects[0]!.to_url, 'https://example.org/new');
  assert.equal(redirects[0]!.depth, 3);
  assert.equal(redirects[0]!.accepted, true);
});

test('a parsed segment is left alone, until more of it is fetched; --as puts another parse beside it', async (t) => {
  const crawl = await jobHarness(t);
  const segment = '20260101000000';
  const fetched = [{url: 'https://example.org/a', body: page, headers: html}];
  await commitFetched(crawl, segment, fetched);
  assert.equal((await crawl.run(parse, none)).outcome, 'done');
  assert.equal((await crawl.run(parse, none)).outcome, 'nothing');
  const current = (await crawl.head()).segment(segment).current!;

  assert.equal((await crawl.run(parse, {...none, segment: [segment], as: 'other'})).outcome, 'done');
  const head = await crawl.head();
  assert.equal(head.segment(segment).current, current, 'the named parse stands beside the current one');
  assert.ok(head.manifest.slots[`segments/${segment}/parse/other`]);

  await commitFetched(crawl, segment, [
    ...fetched,
    {url: 'https://example.org/b', body: page, headers: html},
  ]);
  assert.equal((await crawl.run(parse, none)).outcome, 'done');
  const [count] = await crawl.sql<{n: number}>('SELECT count(*) AS n FROM parse');
  assert.equal(count!.n, 2);
});

test('a segment is split over all processors where there is enough of it, and each capture is one row', async (t) => {
  const crawl = await jobHarness(t);
  const captures = 1200;
  await commitFetched(
    crawl,
    '20260101000000',
    Array.from({length: captures}, (_, nth) => ({
      url: `https://example.org/${nth}`,
      body: `<title>${nth}</title>`,
      headers: html,
    })),
  );
  const {plan} = await crawl.run(parse, none);
  // Of less than 500 rows no part is made
  assert.equal(plan?.tasks.length, Math.min(Math.ceil(captures / 500), availableParallelism()));
  const [count] = await crawl.sql<{n: number}>('SELECT count(DISTINCT url) AS n FROM parse');
  assert.equal(count?.n, captures);
});

test('a segment that updatedb has applied is read again only when asked', async (t) => {
  const crawl = await jobHarness(t);
  const segment = '20260101000000';
  await commitFetched(crawl, segment, [{url: 'https://example.org/a', body: page, headers: html}]);
  await commitRows(crawl, [], {[segment]: {current: 'v0-0123abcd', applied: 'v0-0123abcd'}});
  assert.equal((await crawl.run(parse, none)).outcome, 'nothing');
  assert.equal((await crawl.run(parse, {...none, stale: true})).outcome, 'done');
  assert.notEqual((await crawl.head()).segment(segment).current, 'v0-0123abcd');
});

test('a payload stored in an earlier segment is read from there; one that is nowhere is told', async (t) => {
  const crawl = await jobHarness(t);
  const [former, later] = ['20260101000000', '20260102000000'];
  await commitFetched(crawl, former, [{url: 'https://example.org/a', body: page, headers: html}]);
  const {content_sha256} = captureRow(former, {url: 'https://example.org/a', body: page}, 0);
  await commitFetched(crawl, later, [
    {url: 'https://example.org/b', headers: html, content_sha256, content_segment: former},
    {url: 'https://example.org/c', headers: html, content_sha256: 'f'.repeat(64), content_segment: later},
  ]);
  await crawl.run(parse, {...none, segment: [later]});
  const rows = await crawl.sql<Record<string, unknown>>(
    'SELECT url, title, status, reason FROM parse ORDER BY url',
  );
  assert.deepEqual(rows, [
    {url: 'https://example.org/b', title: 'A page', status: 'success', reason: null},
    {url: 'https://example.org/c', title: null, status: 'failed', reason: 'parse_failed'},
  ]);
});

test('payloads that lie far apart, with others between them, are all read', async (t) => {
  const crawl = await jobHarness(t);
  const filler = Buffer.from(' word'.repeat(20_000)); // twenty of them are more than what is read at a time
  await commitFetched(
    crawl,
    '20260101000000',
    Array.from({length: 120}, (_, at) => ({
      url: `https://example.org/${at}`,
      body: Buffer.concat([Buffer.from(`<title>page ${at}</title>`), filler]),
      headers: html,
      // Payloads of these lie in the file, and nobody asks for them.
      ...(at % 5 === 1 || (at > 40 && at < 70) ? {status: 'gone' as const} : {}),
    })),
  );
  await crawl.run(parse, none);
  const [facts] = await crawl.sql(
    `SELECT count(*) AS pages, count(*) FILTER (title = 'page ' || split_part(url, '/', 4)) AS right_ones FROM parse`,
  );
  assert.deepEqual(facts, {pages: 73, right_ones: 73});
});
