import assert from 'node:assert/strict';
import {test} from 'node:test';
import {parse} from '../../jobs/parse.ts';
import {type ParsedPage, parsePage} from '../../lib/parse/page.ts';
import {paragraphs, pdfDate} from '../../lib/parse/types/pdf.ts';
import {jobHarness} from '../support/job-harness.ts';
import {captureRow, commitFetched} from '../support/parse-captures.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';
import {endlessContent, makePdf} from '../support/pdf.ts';

const header = ['Content-Type: application/pdf'];

function read(body: Uint8Array, bounds: Partial<typeof pageOptions.pdf> = {}): ParsedPage {
  return parsePage(pageInput(body, header), {...pageOptions, pdf: {...pageOptions.pdf, ...bounds}});
}

const paper = {
  info: {
    Title: '<FEFF00DC006200650072>', // Über
    Subject: '(What it is about)',
    CreationDate: "(D:20240229120000+01'00')",
    ModDate: '(D:20240301)',
  },
  lang: 'de-CH',
  pages: [
    {
      lines: [
        'A heading',
        'The first line of a paragraph that is as wide as',
        'the column goes on, and ends.',
      ],
      links: [{line: 0, uri: 'https://example.org/over'}],
    },
    {lines: ['See https://example.org/written for more.'], links: [{line: 0, uri: '../relative'}]},
  ],
};

test('a PDF gives text by paragraphs, title, dates, language and links with the text under them', () => {
  const {columns, links} = read(makePdf(paper));
  assert.equal(columns.status, 'success', String(columns.errors));
  assert.equal(columns.title, 'Über');
  assert.equal(columns.description, 'What it is about');
  assert.equal(columns.lang_declared, 'de-CH');
  assert.equal(columns.published_time?.toISOString(), '2024-02-29T11:00:00.000Z');
  assert.equal(columns.modified_time?.toISOString(), '2024-03-01T00:00:00.000Z');
  assert.deepEqual(columns.text?.split('\n'), [
    'A heading',
    'The first line of a paragraph that is as wide as the column goes on, and ends.',
    'See https://example.org/written for more.',
  ]);
  assert.notEqual(columns.simhash, null);
  assert.deepEqual(
    links.map(({href, kind, anchor}) => [href, kind, anchor]),
    [
      ['https://example.org/over', 'pdf', 'A heading'],
      ['../relative', 'pdf', 'See https://example.org/written for more.'],
      ['https://example.org/written', 'text', null],
    ],
  );
});

test('a PDF sent as HTML, or without a type, is read as what it is', () => {
  for (const headers of [[], ['Content-Type: text/html'], ['Content-Type: application/octet-stream']]) {
    const {columns} = parsePage(pageInput(makePdf(paper), headers), pageOptions);
    assert.equal(columns.content_mime_detected, 'application/pdf');
    assert.equal(columns.title, 'Über');
  }
});

test('what is no PDF, damaged or locked is a failed row that says so, and the next one is read', () => {
  const whole = makePdf(paper);
  const locked = `<< /Filter /Standard /V 1 /R 2 /P -4 /O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}> >>`;
  const cases: [Buffer, RegExp][] = [
    [Buffer.from('%PDF-1.7\nnothing follows'), /damaged/],
    [whole.subarray(0, 60), /damaged/],
    [makePdf({...paper, encrypt: locked}), /password/],
  ];
  for (const [body, message] of cases) {
    const {columns, links} = read(body);
    assert.deepEqual([columns.status, columns.reason], ['failed', 'parse_failed']);
    assert.match(columns.errors ?? '', message);
    assert.notEqual(columns.signature, null, 'the bytes have their signature all the same');
    assert.deepEqual(links, []);
  }
  assert.equal(read(whole).columns.status, 'success');
});

test('a table of places that is wrong is made anew', () => {
  const shifted = Buffer.concat([Buffer.from('%!PS stray line\n'.repeat(3)), makePdf(paper)]);
  assert.equal(read(shifted).columns.title, 'Über');
});

test('a PDF that needs too much memory keeps the pages before that, or is failed without any', () => {
  const heavy = {content: endlessContent(250_000)};
  const light = {lines: ['What can be read']};
  const memory = 24 * 2 ** 20;
  const partial = read(makePdf({pages: [light, heavy]}), {memory}).columns;
  assert.deepEqual([partial.status, partial.text], ['partial', 'What can be read']);
  assert.match(partial.errors ?? '', /pdf_memory.*at page 2/);
  const failed = read(makePdf({pages: [heavy]}), {memory}).columns;
  assert.deepEqual([failed.status, failed.reason], ['failed', 'parse_failed']);
  assert.equal(read(makePdf(paper), {memory}).columns.status, 'success');
});

test('a PDF that takes too long is ended, and the next one is read', () => {
  const slow = makePdf({pages: [{content: endlessContent(200_000)}]});
  const {columns} = read(slow, {timeMs: 1});
  assert.deepEqual([columns.status, columns.reason], ['failed', 'parse_timeout']);
  assert.match(columns.errors ?? '', /no end after 1 ms/);
  assert.equal(read(makePdf(paper)).columns.status, 'success');
});

test('no more pages are read than the text wanted', () => {
  const pages = Array.from({length: 30}, (_, at) => ({lines: [`page ${at} `.padEnd(80, 'x')]}));
  const {columns} = parsePage(pageInput(makePdf({pages}), header), {...pageOptions, maxText: 1000});
  assert.equal(columns.status, 'partial');
  assert.match(columns.errors ?? '', /cut to 1000/);
  assert.equal(columns.text?.length, 1000);
});

test('in a parse job a PDF that ends its reader costs itself alone', async (t) => {
  const crawl = await jobHarness(t, 'parse:\n  pdf_memory: 24MiB\n  timeout: 5m\n');
  const segment = '20260101000000';
  const samples = [
    {url: 'https://example.org/a.pdf', body: makePdf(paper), headers: header},
    {
      url: 'https://example.org/b.pdf',
      body: makePdf({pages: [{content: endlessContent(250_000)}]}),
      headers: header,
    },
    {url: 'https://example.org/c', body: '<title>c</title>', headers: ['Content-Type: text/html']},
    {url: 'https://example.org/d.pdf', body: makePdf({...paper, lang: 'fr'}), headers: header},
  ];
  await commitFetched(crawl, segment, samples);
  const options = {segment: [], as: undefined, all: false, stale: false, where: undefined, with: []};
  const report = await crawl.run(parse, options);
  assert.deepEqual(report.reasons, {not_followed: 2, parse_failed: 1});
  const rows = await crawl.sql('SELECT capture_id, status, title FROM parse ORDER BY url');
  assert.deepEqual(
    rows,
    (
      [
        ['success', 'Über'],
        ['failed', null],
        ['success', 'c'],
        ['success', 'Über'],
      ] as const
    ).map(([status, title], at) => ({
      capture_id: captureRow(segment, samples[at]!, at).capture_id,
      status,
      title,
    })),
  );
  const links = await crawl.sql(
    `SELECT to_url, accepted, reason FROM outlinks WHERE from_url LIKE '%/a.pdf'`,
  );
  assert.deepEqual(links, [
    {to_url: 'https://example.org/over', accepted: true, reason: null},
    {to_url: 'https://example.org/relative', accepted: true, reason: null},
    {to_url: 'https://example.org/written', accepted: false, reason: 'not_followed'},
  ]);
});

test('lines become paragraphs where the last is short; hyphens that the layout made go', () => {
  const wide = 'x'.repeat(60);
  assert.deepEqual(paragraphs(`${wide}\r\n${wide}\r\nend.\r\n${wide}\r\n`), [`${wide} ${wide} end.`, wide]);
  assert.deepEqual(paragraphs(`${wide} hy\ufffe\r\nphen ${wide}`), [`${wide} hyphen ${wide}`]);
  assert.deepEqual(paragraphs(''), []);
});

test('dates of PDF, whole and in part', () => {
  const cases: [string, string | null][] = [
    ["D:20240102030405+01'30'", '2024-01-02T01:34:05.000Z'],
    ['D:20240102030405-0800', '2024-01-02T11:04:05.000Z'],
    ['D:20240102030405Z', '2024-01-02T03:04:05.000Z'],
    ['20240102', '2024-01-02T00:00:00.000Z'],
    ['D:2024', '2024-01-01T00:00:00.000Z'],
    ['yesterday', null],
    ['', null],
  ];
  for (const [text, expected] of cases) assert.equal(pdfDate(text)?.toISOString() ?? null, expected, text);
});
