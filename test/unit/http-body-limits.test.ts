import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import type {Socket} from 'node:net';
import {test} from 'node:test';
import {BodyCollector} from '../../lib/http/body.ts';
import {base32} from '../../lib/http/digests.ts';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {bytesThenEnd, rawServer} from '../support/raw-server.ts';

const framings: Readonly<Record<string, (body: string) => string>> = {
  length: (body) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  chunked: (body) =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  close: (body) => `HTTP/1.1 200 OK\r\n\r\n${body}`,
};

test('a body larger than the limit is cut there, one of exactly the limit is whole', async () => {
  let answer = '';
  await using server = await rawServer((socket, request) => bytesThenEnd(answer)(socket, request));
  await using client = loopbackClient();
  for (const [name, framing] of Object.entries(framings)) {
    answer = framing('0123456789');
    for (const [maxBody, body, truncated] of [
      [9, '012345678', 'length'],
      [10, '0123456789', null],
      [11, '0123456789', null],
      [0, '', 'length'],
    ] as const) {
      const exchange = await get(client, server.origin, {maxBody});
      assert.equal(exchange.reason, null, name);
      assert.equal(latin1(exchange.body), body, name);
      assert.equal(exchange.truncated, truncated, `${name} ${maxBody}`);
      assert.equal(exchange.sha256, createHash('sha256').update(body).digest('hex'));
    }
  }
});

test('an answer that breaks off or stops when the limit is reached exactly has what is wanted: it is cut by length', async () => {
  const breakOff = (end: (socket: Socket) => void) => async (maxBody: number) => {
    await using server = await rawServer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789', () => end(socket)),
    );
    await using client = loopbackClient({idleTimeoutMs: 300});
    const {reason, body, truncated} = await get(client, server.origin, {maxBody});
    return {reason, body: latin1(body), truncated};
  };
  const cut = {reason: null, body: '0123456789', truncated: 'length'};
  const ended = breakOff((socket) => socket.end());
  assert.deepEqual(await ended(10), cut);
  assert.deepEqual(await ended(11), {...cut, reason: 'reset', truncated: 'disconnect'});
  const silent = breakOff(() => undefined);
  assert.deepEqual(await silent(10), cut);
  assert.deepEqual(await silent(11), {...cut, reason: 'timeout', truncated: 'time'});
});

test('wantBody decides on the header; false closes without the body', async () => {
  await using server = await rawServer((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 5\r\n\r\nhello'),
  );
  await using client = loopbackClient();
  const seen: string[] = [];
  const wantBody =
    (answer: boolean) => (head: {readonly headers: readonly (readonly [string, string])[]}) => {
      seen.push(head.headers.map(([name, value]) => `${name}=${value}`).join());
      return answer;
    };
  const without = await get(client, server.origin, {wantBody: wantBody(false)});
  assert.equal(without.reason, null);
  assert.equal(without.body?.length, 0);
  assert.equal(without.truncated, 'length');
  const whole = await get(client, server.origin, {wantBody: wantBody(true)});
  assert.equal(latin1(whole.body), 'hello');
  assert.deepEqual(seen, Array(2).fill('Content-Type=video/mp4,Content-Length=5'));
  assert.equal(server.connections, 2);
});

test('RFC 4648 base32', () => {
  for (const [text, expected] of [
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ] as const) {
    assert.equal(base32(Buffer.from(text)), expected);
  }
  assert.equal(base32(createHash('sha1').digest()), '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ');
});

test('digests in pieces and in one go are the same', () => {
  const bytes = Buffer.alloc(700_000, 'page');
  for (const piece of [700_000, 300_000, 65_536, 1_000]) {
    const body = new BodyCollector(1_000_000);
    for (let at = 0; at < bytes.length; at += piece) assert.ok(body.push(bytes.subarray(at, at + piece)));
    const {sha1, sha256, body: whole} = body.finish();
    assert.ok(bytes.equals(whole));
    assert.equal(sha1, base32(createHash('sha1').update(bytes).digest()));
    assert.equal(sha256, createHash('sha256').update(bytes).digest('hex'));
  }
});

test('a body is read at the pace that is asked for, and no time-out counts the rests', async () => {
  const body = 'x'.repeat(200_000);
  await using server = await rawServer((socket, request) =>
    bytesThenEnd(framings.length!(body))(socket, request),
  );
  await using client = loopbackClient({idleTimeoutMs: 1000, totalTimeoutMs: 1500});
  let bytes = 0;
  const pace = (piece: number) => {
    bytes += piece;
    return bytes === piece ? 1600 : 0;
  };
  const exchange = await get(client, server.origin, {pace});
  assert.equal(exchange.reason, null);
  assert.equal(exchange.body?.length, body.length);
  assert.equal(bytes, body.length);
  assert.equal(exchange.timings.paced, 1600);
});
