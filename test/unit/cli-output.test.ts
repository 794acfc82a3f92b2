import assert from 'node:assert/strict';
import {PassThrough} from 'node:stream';
import {test} from 'node:test';
import {stageOf} from '../../cli/next-step.ts';
import {Output, PipeClosed, type RowFormat, tableText, writeRows} from '../../cli/output.ts';
import {progressLine} from '../../cli/progress.ts';
import {statusText} from '../../cli/status-text.ts';
import {bytes, count, counted, span, visible} from '../../cli/words.ts';
import type {CrawlStatus} from '../../jobs/status.ts';
import {jsonLog, textLog} from '../../lib/log.ts';
import {thisOwner} from '../../lib/store/lock.ts';
import {emptyManifest} from '../../lib/store/manifest.ts';

const colours = new Output(new PassThrough(), {}).colours;

/** What a format makes of rows. */
async function written(format: RowFormat, columns: readonly string[], batches: Record<string, unknown>[][]) {
  let text = '';
  const write = async (piece: string | Uint8Array) => {
    text += String(piece);
  };
  const rows = await writeRows({write, colours}, format, columns, batches);
  return {rows, text};
}

const row = {
  text: 'a,"b"',
  none: null,
  empty: '',
  key: 18_446_744_073_709_551_615n,
  time: new Date(0),
  blob: Uint8Array.of(0xaa),
  list: [1, 2n],
};
const columns = Object.keys(row);

test('csv: RFC 4180, null is nothing and an empty text is quoted', async () => {
  const {text} = await written('csv', columns, [[row]]);
  assert.equal(
    text,
    'text,none,empty,key,time,blob,list\n"a,""b""",,"",18446744073709551615,1970-01-01T00:00:00.000Z,qg==,"[1,""2""]"\n',
  );
});

test('jsonl: one object a line, keys as text', async () => {
  const {text, rows} = await written('jsonl', columns, [[row], [], [row]]);
  const lines = text.trimEnd().split('\n');
  assert.deepEqual([rows, lines.length], [2, 2]);
  assert.deepEqual(JSON.parse(lines[0]!), {
    text: 'a,"b"',
    none: null,
    empty: '',
    key: '18446744073709551615',
    time: '1970-01-01T00:00:00.000Z',
    blob: 'qg==',
    list: [1, '2'],
  });
});

test('json: one array over all batches', async () => {
  assert.deepEqual(JSON.parse((await written('json', ['a'], [[{a: 1}], [{a: 2}]])).text), [{a: 1}, {a: 2}]);
  assert.deepEqual(JSON.parse((await written('json', ['a'], [])).text), []);
});

test('table: columns as wide as needed, numbers to the right, wide characters counted as such', () => {
  const rows = [
    {name: '東京', n: 1},
    {name: 'b', n: 100},
  ];
  assert.equal(tableText(colours, ['name', 'n'], rows), 'name    n\n東京    1\nb     100\n');
});

test('table: nothing is its header; a long one is written in pieces', async () => {
  assert.equal((await written('table', ['a', 'b'], [])).text, 'a  b\n');
  const long = await written('table', ['a'], [Array.from({length: 2500}, (_, a) => ({a}))]);
  assert.equal(long.text.split('\n').filter((line) => /\d/.test(line)).length, 2500);
});

test('cells cannot steer a terminal', () => {
  const text = tableText(colours, ['a'], [{a: '\u001b[31mred\u202e\n\u0007'}]);
  assert.equal(text, 'a\n\\u{1b}[31mred\\u{202e}\\n\\u{7}\n');
  assert.equal(visible('plain äöü 東京'), 'plain äöü 東京');
});

test('a write after the pipe is closed ends in PipeClosed, a waiting one too', async () => {
  const stream = new PassThrough({highWaterMark: 1});
  const out = new Output(stream, {});
  const waiting = out.write('xx');
  stream.destroy(Object.assign(new Error('write EPIPE'), {code: 'EPIPE'}));
  await assert.rejects(waiting, PipeClosed);
  await assert.rejects(out.write('y'), PipeClosed);
  out.tell('z');
  await out.flush();
});

test('another failure of the stream is thrown by write and flush', async () => {
  const stream = new PassThrough();
  const out = new Output(stream, {});
  const failed = new Promise((resolve) => stream.once('error', resolve));
  stream.destroy(Object.assign(new Error('ENOSPC: no space left'), {code: 'ENOSPC'}));
  await failed;
  await assert.rejects(out.write('y'), /ENOSPC/);
  await assert.rejects(out.flush(), /ENOSPC/);
});

test('words', () => {
  assert.deepEqual([0, 999, 1000, 48_210, 1_234_567].map(count), [
    '0',
    '999',
    '1 000',
    '48 210',
    '1 234 567',
  ]);
  assert.deepEqual(
    [counted(1, 'page'), counted(0, 'page'), counted(2, 'entry', 'entries')],
    ['1 page', '0 pages', '2 entries'],
  );
  assert.deepEqual([40, 1400, 59_000, 60_000, 200_000, 7_500_000, 270_000_000].map(span), [
    '40 ms',
    '1.4 s',
    '59 s',
    '1 min',
    '3 min 20 s',
    '2 h 5 min',
    '3 d 3 h',
  ]);
  assert.deepEqual([1023, 1024, 1_610_612_736].map(bytes), ['1023 B', '1.0 KiB', '1.5 GiB']);
});

test('the progress line: done, total, rate, time left, further figures', () => {
  assert.equal(
    progressLine(
      'fetch',
      {done: 1200, total: 3000, unit: 'pages', facts: {bytes: 2048, active_hosts: 12}},
      60_000,
    ),
    'fetch  1 200 of 3 000 pages · 20.0/s · 1 min 30 s left · 2.0 KiB · 12 active hosts',
  );
  assert.equal(progressLine('inject', {done: 5000, unit: 'lines'}, 10_000), 'inject  5 000 lines · 500/s');
});

test('logs: text quotes what holds blanks, JSON lines keep the fields; lower levels are left out', () => {
  const lines: string[] = [];
  const text = textLog((line) => lines.push(line), 'info');
  text('debug', 'unseen');
  text('warn', 'seed_rejected', {line: 3, text: 'a b\u001b', key: 5n, none: undefined});
  assert.deepEqual(lines, ['warn: seed_rejected line=3 text="a b\\u001b" key=5\n']);
  const json: string[] = [];
  jsonLog(
    (line) => json.push(line),
    'info',
    () => 0,
  )('info', 'nothing_due', {hosts: 2});
  assert.deepEqual(JSON.parse(json[0]!), {
    level: 'info',
    time: '1970-01-01T00:00:00.000Z',
    event: 'nothing_due',
    hosts: 2,
  });
});

test('status does not send people to a fetch that is at work', () => {
  const slot = {version: 1, ref: '', sha256: '', files: 0, rows: 0, bytes: 0};
  const time = new Date(0).toISOString();
  const segment = {
    version: 1,
    state: 'generated',
    urls: 1,
    hosts: 1,
    partitions: 1,
    generated_time: time,
  } as const;
  const status: CrawlStatus = {
    dir: '/crawl',
    manifest: {
      ...emptyManifest,
      number: 1,
      slots: {crawldb: slot},
      segments: {'20260101000000': segment},
      summary: {urls: 1, hosts: 1, pages_fetched: 1},
    },
    bytes: 0,
    segments: [{...segment, id: '20260101000000', captures: 0, bytes: 0}],
    hosts: {asked: 0, resting: {}, until: null},
    locks: [],
    runs: [],
  };
  const text = (one: CrawlStatus) => statusText(one, {all: false, now: 0, colours});
  assert.match(text(status), /next: crawl fetch \(a segment waits/);
  assert.match(text(status), /1 URL of 1 host: 1 page fetched ever/);
  const held = {...status, locks: [thisOwner('fetching', 'crawl fetch', 0)]};
  assert.match(text(held), new RegExp(`next: wait for crawl fetch \\(pid ${process.pid}\\)`));
});

test('a segment with another parse than is applied is not open, and waits for updatedb', () => {
  const stage = (applied: string | null | undefined, current: string | undefined, inverted?: string) =>
    stageOf({
      version: 1,
      state: 'fetched',
      urls: 1,
      hosts: 1,
      partitions: 1,
      generated_time: new Date(0).toISOString(),
      ...(applied !== undefined && {applied}),
      ...(current !== undefined && {current}),
      ...(inverted !== undefined && {inverted}),
    });
  assert.deepEqual(
    [
      stage(undefined, 'a'),
      stage('a', 'a'),
      stage('a', 'a', 'a'),
      stage('a', 'b', 'a'),
      stage(null, 'b'),
      stage(null, undefined),
    ],
    ['parsed', 'applied', 'inverted', 'reparsed', 'reparsed', 'applied'],
  );
});
