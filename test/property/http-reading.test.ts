import assert from 'node:assert/strict';
import {test} from 'node:test';
import fc from 'fast-check';
import {Client} from 'undici';
import {ChunkStraightener} from '../../lib/http/chunked.ts';
import {endOfHeader, readHeaderBlock, readLenient} from '../../lib/http/header-block.ts';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {rawServer} from '../support/raw-server.ts';

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
/** Field values as they are sent: visible characters, blanks, bytes above 127; nothing blank at the ends. */
const value = fc.stringMatching(/^(?:[!-~\x80-\xff](?:[!-~\x80-\xff\t ]{0,20}[!-~\x80-\xff])?)?$/);
const blank = fc.stringMatching(/^[ \t]{0,3}$/);
const header = fc.tuple(
  token.filter(
    (name) => !/^(?:content-length|transfer-encoding|connection|keep-alive|trailer|upgrade)$/i.test(name),
  ),
  value,
  blank,
  blank,
);
const phrase = fc.stringMatching(/^[!-~\x80-\xff \t]{0,12}$/);

test('the plain reading and the lenient one agree wherever the plain one applies', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('1.0', '1.1'),
      fc.integer({min: 100, max: 999}),
      phrase,
      fc.array(header, {maxLength: 8}),
      (version, status, words, headers) => {
        const lines = headers.map(([name, text, before, after]) => `${name}:${before}${text}${after}\r\n`);
        const block = `HTTP/${version} ${status} ${words}\r\n${lines.join('')}\r\n`;
        const plain = readHeaderBlock(block);
        assert.ok(typeof plain !== 'string');
        assert.deepEqual(plain, readLenient(block));
        assert.deepEqual(plain.repairs, []);
        assert.deepEqual(
          plain.headers,
          headers.map(([name, text]) => [name, text]),
        );
        assert.equal(plain.status, status);
        assert.equal(plain.statusText, words);
        assert.equal(endOfHeader(Buffer.from(`${block}rest`, 'latin1'), 0), block.length);
      },
    ),
  );
});

test('any bytes are read as a block or refused in words, and never thrown over', () => {
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 200}), fc.boolean(), (bytes, start) => {
      const text = `${start ? 'HTTP/1.1 200 OK\n' : ''}${Buffer.from(bytes).toString('latin1')}\n\n`;
      const read = readHeaderBlock(text);
      if (typeof read === 'string') return;
      for (const [name, content] of read.headers) assert.doesNotMatch(name + content, /[\r\n\0]/);
    }),
  );
});

test('our reading of headers is undici’s, but for the blanks behind a value, which it keeps', async () => {
  let answer: Buffer = Buffer.alloc(0);
  await using server = await rawServer((socket) => socket.end(answer));
  await using client = loopbackClient();
  await fc.assert(
    fc.asyncProperty(phrase, fc.array(header, {maxLength: 8}), async (words, headers) => {
      const lines = headers.map(([name, text, before, after]) => `${name}:${before}${text}${after}\r\n`);
      answer = Buffer.from(`HTTP/1.1 200 ${words}\r\n${lines.join('')}Content-Length: 2\r\n\r\nok`, 'latin1');
      const ours = await get(client, server.origin);
      const theirs = await undiciHeaders(server.origin);
      assert.deepEqual(ours.head?.headers.flat(), theirs);
      assert.equal(latin1(ours.body), 'ok');
    }),
    {numRuns: 60},
  );
});

async function undiciHeaders(origin: string): Promise<string[]> {
  const bare = new Client(origin);
  try {
    return await new Promise<string[]>((resolve, reject) => {
      let read: string[] = [];
      bare.dispatch(
        {method: 'GET', path: '/'},
        {
          onConnect: () => undefined,
          onHeaders: (_status, raw) => {
            read = raw.map((part) => part.toString('latin1').replace(/[ \t]+$/, ''));
            return true;
          },
          onData: () => true,
          onComplete: () => resolve(read),
          onError: reject,
        },
      );
    });
  } finally {
    await bare.destroy();
  }
}

const chunk = fc.record({
  data: fc.stringMatching(/^[\0-\xff]{1,40}$/),
  extension: fc.constantFrom('', ';a', ';a=b', ' ;x="y z"'),
  upper: fc.boolean(),
  zeros: fc.integer({min: 0, max: 3}),
  blankBefore: fc.constantFrom('', ' ', '\t'),
  blankAfter: fc.constantFrom('', ' ', '  '),
  sizeEnd: fc.constantFrom('\r\n', '\n'),
  dataEnd: fc.constantFrom('\r\n', '\n'),
});
const chunks = fc.array(chunk, {maxLength: 6});

test('odd chunk lines come out straight, cut anywhere; straight ones come out as they went in', () => {
  fc.assert(
    fc.property(chunks, fc.boolean(), fc.array(fc.nat(400), {maxLength: 6}), (parts, odd, cuts) => {
      let sent = '';
      let straight = '';
      for (const part of parts) {
        const digits = '0'.repeat(part.zeros) + part.data.length.toString(16);
        const size = part.upper ? digits.toUpperCase() : digits;
        const extension = part.extension.trim();
        straight += `${size}${extension}\r\n${part.data}\r\n`;
        sent += odd
          ? `${part.blankBefore}${size}${part.blankAfter}${extension}${part.sizeEnd}${part.data}${part.dataEnd}`
          : `${size}${extension}\r\n${part.data}\r\n`;
      }
      const end = '0\r\nX-Trailer: 1\r\n\r\n';
      sent += odd ? end.replaceAll('\r', '') : end;
      straight += end;
      const bytes = Buffer.from(sent, 'latin1');
      const edges = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b);
      const straightener = new ChunkStraightener();
      const out = [0, ...edges].map((from, i) =>
        straightener.push(bytes.subarray(from, edges[i] ?? bytes.length)),
      );
      assert.equal(Buffer.concat(out).toString('latin1'), straight);
      assert.equal(straightener.refused, undefined);
      if (!odd) assert.equal(straightener.repaired, false);
    }),
  );
});

test('what is behind the last chunk is passed on untouched', () => {
  const straightener = new ChunkStraightener();
  const out = straightener.push(Buffer.from('1\na\n0\n\nHTTP/1.1 \n\n'));
  assert.equal(out.toString(), '1\r\na\r\n0\r\n\r\nHTTP/1.1 \n\n');
  assert.equal(straightener.push(Buffer.from('\n5\n')).toString(), '\n5\n');
});

test('lines and trailers without end are refused', () => {
  const line = new ChunkStraightener();
  for (let i = 0; i < 9; i += 1) line.push(Buffer.from(`${i === 0 ? '5;' : ''}${'x'.repeat(1000)}`));
  assert.match(line.refused ?? '', /8192/);
  const trailers = new ChunkStraightener();
  trailers.push(Buffer.from('0\r\n'));
  for (let i = 0; i < 70; i += 1) trailers.push(Buffer.from(`X: ${'x'.repeat(1000)}\r\n`));
  assert.match(trailers.refused ?? '', /65536/);
});
