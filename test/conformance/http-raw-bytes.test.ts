import assert from 'node:assert/strict';
import type {Socket} from 'node:net';
import {test} from 'node:test';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {rawServer} from '../support/raw-server.ts';

/** Bytes that a parser would change: case, order, duplicates, blanks, bytes above 127, an odd reason phrase. */
const head =
  'HTTP/1.1 200 Tout va bien, \xe9l\xe8ve!\r\nX-B: 1\r\nx-a:2\r\nSet-Cookie: a=1\r\nSET-COOKIE:   b=2  \r\n' +
  'X-Utf8: \xc3\xa9\r\nX-Empty:\r\nx-b: 3\r\nDate:\tnow\t\r\n';

const shapes: Readonly<
  Record<
    string,
    {
      readonly before?: string;
      readonly header: string;
      readonly rest: string;
      readonly body: string;
      readonly ends?: boolean;
    }
  >
> = {
  'Content-Length': {
    header: `${head}Content-Length: 11\r\n\r\n`,
    rest: 'hello\r\n\r\nyo',
    body: 'hello\r\n\r\nyo',
  },
  chunked: {
    header: `${head}Transfer-Encoding: chunked\r\n\r\n`,
    rest: '5;x=y\r\nhello\r\n6\r\n\r\n\r\nyo\r\n0\r\nX-Trailer: t\r\n\r\n',
    body: 'hello\r\n\r\nyo',
  },
  'until close': {header: `${head}\r\n`, rest: 'hello\r\n\r\nyo', body: 'hello\r\n\r\nyo', ends: true},
  'early hints': {
    before: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
    header: `${head}Content-Length: 2\r\n\r\n`,
    rest: 'ok',
    body: 'ok',
  },
  'no body': {header: `${head}Content-Length: 0\r\n\r\n`, rest: '', body: ''},
  'not modified': {header: `HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n`, rest: '', body: ''},
  'bare LF': {
    header: 'HTTP/1.1 200 OK\nX-A: 1\n folded\nContent-Length : 5\n\n',
    rest: 'a\n\nbc',
    body: 'a\n\nbc',
  },
};

/** Writes the pieces one by one, each as a packet of its own. */
function writeInPieces(socket: Socket, bytes: Buffer, cuts: readonly number[], end: boolean): void {
  const [cut, ...others] = cuts;
  const at = cut ?? bytes.length;
  socket.write(bytes.subarray(0, at), () => {
    if (cut !== undefined)
      setImmediate(() =>
        writeInPieces(
          socket,
          bytes.subarray(at),
          others.map((next) => next - at),
          end,
        ),
      );
    else if (end) socket.end();
  });
}

test('header bytes are kept as received and bodies are whole, with cuts anywhere', async () => {
  let answer = {bytes: Buffer.alloc(0), cuts: [] as number[], end: false};
  await using server = await rawServer((socket) =>
    writeInPieces(socket, answer.bytes, answer.cuts, answer.end),
  );
  await using client = loopbackClient();
  let cases = 0;
  for (const [name, {before = '', header, rest, body, ends = false}] of Object.entries(shapes)) {
    const bytes = Buffer.from(before + header + rest, 'latin1');
    const edge = before.length + header.length;
    const cutsOf = [
      [],
      [1],
      [edge - 3, edge - 2, edge - 1],
      [edge - 1],
      [edge],
      [edge + 1],
      [4, 9, 13, 17, 30],
      [bytes.length - 1],
      [Math.floor(bytes.length / 3), Math.floor((2 * bytes.length) / 3)],
      Array.from({length: bytes.length - 1}, (_, i) => i + 1),
      ...(before === '' ? [] : [[before.length], [before.length - 1], [before.length + 1], [25]]),
    ];
    for (const cuts of cutsOf) {
      answer = {bytes, cuts: cuts.filter((cut) => cut > 0 && cut < bytes.length), end: ends};
      const exchange = await get(client, `${server.origin}/${cases}`, {
        headers: [
          ['Accept', '*/*'],
          ['X-Odd-CASE', 'two  blanks'],
        ],
      });
      const label = `${name}, cut at ${cuts.slice(0, 6).join()}`;
      assert.equal(exchange.reason, null, `${label}: ${exchange.detail}`);
      assert.equal(latin1(exchange.responseHeader), header, label);
      assert.equal(latin1(exchange.body), body, label);
      assert.equal(latin1(exchange.requestHeader), server.requests.at(-1), label);
      assert.equal(exchange.truncated, null, label);
      cases += 1;
    }
  }
  assert.ok(cases >= 74, String(cases));
  // All but those that end with their connection went over one.
  assert.equal(server.connections, 10 + 1);
});

test('the headers of an exchange keep order, case and duplicates', async () => {
  await using server = await rawServer((socket) =>
    socket.write(Buffer.from(`${head}Content-Length: 0\r\n\r\n`, 'latin1')),
  );
  await using client = loopbackClient();
  const {head: read} = await get(client, server.origin);
  assert.equal(read?.statusText, 'Tout va bien, \xe9l\xe8ve!');
  assert.deepEqual(read?.headers, [
    ['X-B', '1'],
    ['x-a', '2'],
    ['Set-Cookie', 'a=1'],
    ['SET-COOKIE', 'b=2'],
    ['X-Utf8', '\xc3\xa9'],
    ['X-Empty', ''],
    ['x-b', '3'],
    ['Date', 'now'],
    ['Content-Length', '0'],
  ]);
});
