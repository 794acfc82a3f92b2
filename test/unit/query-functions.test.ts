import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {brotliCompressSync, deflateSync, gzipSync} from 'node:zlib';
import {openQueries, type QuerySession} from '../../jobs/query.ts';
import {decoderOf} from '../../lib/parse/decode.ts';
import {encodingOf} from '../../lib/parse/encoding-labels.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {temporaryCrawl} from '../support/temporary-crawl.ts';
import {defaultConfig} from '../support/url-config.ts';

async function session(t: Parameters<typeof temporaryCrawl>[0], settings: {threads?: number} = {}) {
  const dir = await temporaryCrawl(t);
  const storage = {...defaultConfig.storage, memory: 512e6, ...settings};
  const queries = await openQueries({
    dir,
    config: {...defaultConfig, storage},
    signal: new AbortController().signal,
  });
  t.after(() => queries.close());
  return queries;
}

async function values(queries: QuerySession, sql: string): Promise<unknown[]> {
  const found: unknown[] = [];
  const {batches} = await queries.query(sql);
  for await (const rows of batches) for (const row of rows) found.push(Object.values(row)[0]);
  return found;
}

const hex = (bytes: Uint8Array) => `unhex('${Buffer.from(bytes).toString('hex')}')`;
const quoted = (text: string | null) => (text === null ? 'NULL' : `'${text.replaceAll("'", "''")}'`);
const text = 'Zażółć gęślą jaźń, said again. '.repeat(30);

test('payloads are decoded as parse decodes them', async (t) => {
  const queries = await session(t);
  const body = Buffer.from(text);
  for (const [coding, payload, expected] of [
    [null, body, body],
    ['gzip', gzipSync(body), body],
    ['GZIP', gzipSync(body), body],
    ['br', brotliCompressSync(body), body],
    ['deflate', deflateSync(body), body],
    ['gzip', body, body], // not what it claims to be
    ['gzip', Buffer.alloc(0), Buffer.alloc(0)],
    ['compress', Buffer.from('x'), Buffer.alloc(0)], // nobody undoes that
    [null, Buffer.from([0, 1, 2, 255]), Buffer.from([0, 1, 2, 255])],
  ] as const) {
    const [found] = await values(queries, `SELECT decode_payload(${hex(payload)}, ${quoted(coding)})`);
    assert.deepEqual(Buffer.from(found as Uint8Array), Buffer.from(expected), `${coding}`);
  }
  const [cut] = await values(
    queries,
    `SELECT decode_payload(${hex(gzipSync(Buffer.from(Array.from({length: 9000}, (_, n) => `${n * 7919} `).join(''))).subarray(0, 5000))}, 'gzip')`,
  );
  assert.ok((cut as Uint8Array).length > 1000, 'of a cut payload what is there');
  const [bomb] = await values(
    queries,
    `SELECT octet_length(decode_payload(${hex(gzipSync(Buffer.alloc(40 << 20)))}, 'gzip'))`,
  );
  assert.ok((bomb as number) <= defaultConfig.parse.max_body, 'not more than parse.max_body');
});

test('text is found by BOM, header, declaration and guess; what is none is null', async (t) => {
  const queries = await session(t);
  for (const [bytes, type, expected] of [
    [Buffer.from('żółw'), 'text/plain; charset=utf-8', 'żółw'],
    [Buffer.from('\xbf\xf3\xb3w', 'latin1'), 'text/plain; charset=iso-8859-2', 'żółw'],
    [Buffer.from('<meta charset=koi8-r>\xf2\xc1\xd3', 'latin1'), 'text/html', '<meta charset=koi8-r>Рас'],
    [
      Buffer.from('<html><meta charset=koi8-r>\xf2\xc1\xd3', 'latin1'),
      null,
      '<html><meta charset=koi8-r>Рас',
    ],
    [
      Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>\xe9</a>', 'latin1'),
      'text/xml',
      '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>',
    ],
    [Buffer.from('\ufeffbom', 'utf16le'), 'text/plain', 'bom'],
    [Buffer.from('\ufeff{"a": "é"}'), 'application/json', '{"a": "é"}'],
    [Buffer.from('quote \x93x\x94', 'latin1'), 'text/plain; charset=windows-1252', 'quote “x”'],
    [Buffer.from('nul \0 inside'), 'text/html; charset=utf-8', 'nul \0 inside'],
    [Buffer.from('half \xc5', 'latin1'), 'text/html; charset=utf-8', 'half \ufffd'],
    [Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1'), 'image/png', null],
    [Buffer.from('%PDF-1.4'), 'application/pdf', null],
    [Buffer.alloc(0), 'text/html', ''],
  ] as const) {
    const [found] = await values(
      queries,
      `SELECT payload_text(${hex(gzipSync(bytes))}, 'gzip', ${quoted(type)})`,
    );
    assert.equal(found, expected, `${type}: ${expected}`);
  }
  assert.deepEqual(
    await values(queries, `SELECT payload_text('plain'::BLOB)`),
    ['plain'],
    'the rest may be left out',
  );
});

test('headers are read by name', async (t) => {
  const queries = await session(t);
  const header = 'HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n charset=x\r\nX: 1\r\nx: caf\xe9\r\n\r\n';
  const block = hex(Buffer.from(header, 'latin1'));
  for (const [name, expected] of [
    ['content-type', 'text/html; charset=x'],
    ['X', '1, café'],
    ['none', null],
  ] as const)
    assert.deepEqual(await values(queries, `SELECT header_value(${block}, '${name}')`), [expected]);
});

test('nulls give null, whatever the vector looks like', async (t) => {
  const queries = await session(t);
  for (const call of [
    'decode_payload(NULL, NULL)',
    "decode_payload(NULL, 'gzip')",
    'payload_text(NULL, NULL, NULL)',
    "header_value(NULL, 'x')",
    "header_value('x: y'::BLOB, NULL)",
  ])
    assert.deepEqual(await values(queries, `SELECT ${call}`), [null], call);
  const mixed = await values(
    queries,
    `SELECT payload_text(CASE WHEN i % 3 = 0 THEN NULL ELSE (i || ' text')::BLOB END) FROM range(5000) t(i)`,
  );
  assert.equal(mixed.length, 5000);
  for (const [i, found] of mixed.entries()) assert.equal(found, i % 3 === 0 ? null : `${i} text`);
  const [filtered] = await values(
    queries,
    `SELECT count(*) FROM (SELECT (i || 'x')::BLOB AS p, i FROM range(9000) t(i) WHERE i % 7 = 3) WHERE payload_text(p) LIKE '%3x'`,
  );
  assert.equal(
    filtered,
    Array.from({length: 9000}, (_, i) => i).filter((i) => i % 7 === 3 && i % 10 === 3).length,
  );
});

test('wrong arguments are errors of the query, and a query can be left in the middle', async (t) => {
  const queries = await session(t, {threads: 2});
  for (const sql of [
    'SELECT decode_payload()',
    "SELECT decode_payload(1, 'gzip')",
    "SELECT payload_text('x'::BLOB, 1, 2, 3)",
  ])
    await assert.rejects(values(queries, sql), {code: 'QUERY_FAILED'}, sql);
  const {batches} = await queries.query(
    "SELECT payload_text(('left ' || i)::BLOB) AS t FROM range(200000) t(i)",
  );
  let rows = 0;
  for await (const batch of batches) {
    rows += batch.length;
    break;
  }
  assert.ok(rows > 0);
  assert.deepEqual(await values(queries, "SELECT payload_text('still there'::BLOB)"), ['still there']);
});

test('an interrupted query ends', async (t) => {
  const dir = await temporaryCrawl(t);
  const stop = new AbortController();
  const queries = await openQueries({dir, config: defaultConfig, signal: stop.signal});
  t.after(() => queries.close());
  const asked = values(queries, 'SELECT count(payload_text(i::VARCHAR::BLOB)) FROM range(1000000000) t(i)');
  setImmediate(() => stop.abort());
  await assert.rejects(asked, {code: 'INTERRUPTED'});
});

interface Sample {
  readonly file: string;
  readonly whatwg?: string | null;
}

test('charset samples, packed and named by their header, read as their encoding says', {
  skip: withoutCorpus('charset/EXPECTED.json'),
}, async (t) => {
  const root = corpus('charset')!;
  const samples = JSON.parse(readFileSync(join(root, 'EXPECTED.json'), 'utf8')) as Sample[];
  const queries = await session(t);
  let compared = 0;
  for (const {file, whatwg} of samples) {
    const encoding = whatwg == null ? undefined : encodingOf(whatwg);
    const bytes = readFileSync(join(root, file));
    if (encoding === undefined || bytes.length === 0 || bytes[0] === 0xef || bytes[0]! >= 0xfe) continue; // a BOM decides by itself
    const payload = hex(gzipSync(bytes));
    const [found] = await values(
      queries,
      `SELECT payload_text(${payload}, 'gzip', 'text/plain; charset=${whatwg}')`,
    );
    if (found === null) continue; // the sample is no text, as by its first bytes
    assert.equal(found, decoderOf(encoding).decode(bytes), file);
    compared++;
  }
  assert.ok(compared > 150, `${compared} compared`);
});
