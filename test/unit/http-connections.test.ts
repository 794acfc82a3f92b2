import assert from 'node:assert/strict';
import type {Socket} from 'node:net';
import {test} from 'node:test';
import {get, getOnce, latin1, loopbackClient} from '../support/loopback-client.ts';
import {bytesOnly, type RawAnswer, rawServer} from '../support/raw-server.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

test('the request says who asks, then what the caller gave, in its order', async () => {
  await using server = await rawServer(bytesOnly(ok));
  await using client = loopbackClient({userAgent: 'crawl/1 (+https://example.org/bot)'});
  await get(client, `${server.origin}/p/%41?q=1&é=%20`, {
    headers: [
      ['Accept', 'text/html'],
      ['If-None-Match', '"x"'],
      ['accept-language', 'en'],
    ],
  });
  assert.equal(
    server.requests[0],
    `GET /p/%41?q=1&%C3%A9=%20 HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n` +
      'User-Agent: crawl/1 (+https://example.org/bot)\r\nAccept: text/html\r\nIf-None-Match: "x"\r\naccept-language: en\r\n\r\n',
  );
});

test('a connection is kept and used again, and times of connecting are told once', async () => {
  await using server = await rawServer(bytesOnly(ok));
  await using client = loopbackClient();
  const first = await get(client, server.origin);
  const second = await get(client, server.origin);
  assert.equal(server.connections, 1);
  assert.equal(typeof first.timings.connect, 'number');
  assert.equal(first.timings.dns, null);
  assert.equal(second.timings.connect, null);
  assert.deepEqual(second.connection, {
    ip: '127.0.0.1',
    protocol: 'http/1.1',
    tlsVersion: null,
    tlsCipher: null,
    tlsVerified: null,
    proxy: null,
  });
  assert.ok((second.timings.firstByte ?? -1) >= 0 && second.timings.total >= (second.timings.firstByte ?? 0));
});

test('a URL’s user and password and fragment are not sent', async () => {
  await using server = await rawServer(bytesOnly(ok));
  await using client = loopbackClient();
  await get(client, `http://user:secret@127.0.0.1:${server.port}/#part`);
  assert.doesNotMatch(server.requests[0] ?? '', /secret|authorization|part/i);
});

test('a kept connection that dies before the first byte: told as stale, and nothing is sent again', async () => {
  const reset: RawAnswer = (socket, {nth}) => {
    if (nth === 0) socket.write(ok);
    else socket.resetAndDestroy();
  };
  await using server = await rawServer(reset);
  await using client = loopbackClient();
  await get(client, server.origin);
  const exchange = await getOnce(client, `${server.origin}/stale`);
  assert.equal(exchange.reason, 'reset');
  assert.equal(exchange.stale, true);
  assert.equal(server.requests.length, 2);
  const again = await get(client, `${server.origin}/again`);
  assert.equal(again.reason, null, again.detail ?? '');
  assert.equal(latin1(again.body), 'ok');
  assert.equal(server.connections, 2);
  assert.equal(server.requests.length, 3);
});

test('a new connection that dies is not tried again', async () => {
  await using server = await rawServer((socket) => socket.resetAndDestroy());
  await using client = loopbackClient();
  const exchange = await get(client, server.origin);
  assert.equal(exchange.reason, 'reset');
  assert.equal(exchange.stale, undefined);
  assert.equal(server.requests.length, 1);
});

test('no second request when the answer had begun', async () => {
  await using server = await rawServer((socket, {nth}) => {
    if (nth === 0) socket.write(ok);
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', () => socket.resetAndDestroy());
  });
  await using client = loopbackClient();
  await get(client, server.origin);
  const exchange = await get(client, server.origin);
  assert.equal(exchange.reason, 'reset');
  assert.equal(server.requests.length, 2);
});

test('bytes that come before a request are nobody’s answer', async () => {
  await using server = await rawServer((socket, {nth, connection}) => {
    socket.write(ok);
    if (nth === 0 && connection === 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged');
  });
  await using client = loopbackClient();
  for (let i = 0; i < 3; i += 1) {
    const exchange = await get(client, `${server.origin}/${i}`);
    assert.equal(exchange.reason, null);
    assert.equal(latin1(exchange.body), 'ok');
  }
  assert.equal(server.connections, 2);
});

test('several exchanges with one host at once each have their connection', async () => {
  const waiting: Socket[] = [];
  await using server = await rawServer((socket) => {
    waiting.push(socket);
    if (waiting.length === 3) for (const one of waiting.splice(0)) one.write(ok);
  });
  await using client = loopbackClient();
  const all = await Promise.all([1, 2, 3].map((i) => get(client, `${server.origin}/${i}`)));
  assert.deepEqual(
    all.map(({reason}) => reason),
    [null, null, null],
  );
  assert.equal(server.connections, 3);
});

test('release closes what is kept for the origin, and only that', async () => {
  await using server = await rawServer(bytesOnly(ok));
  await using other = await rawServer(bytesOnly(ok));
  await using client = loopbackClient();
  await get(client, server.origin);
  await get(client, other.origin);
  const closed = server.allClosed();
  client.release(server.origin);
  await closed;
  assert.equal(other.open.size, 1);
  await get(client, other.origin);
  assert.equal(other.connections, 1);
  await get(client, server.origin);
  assert.equal(server.connections, 2);
});

test('the connection unused for longest goes when there are too many', async () => {
  await using client = loopbackClient({}, {maxConnections: 2});
  const servers = await Promise.all([1, 2, 3].map(() => rawServer(bytesOnly(ok))));
  for (const server of servers) await get(client, server.origin);
  const [first] = servers;
  assert.ok(first !== undefined);
  await first.allClosed();
  assert.deepEqual(
    servers.map((server) => server.open.size),
    [0, 1, 1],
  );
  for (const server of servers) await server.close();
});

test('a signal ends the exchange, before and while it runs', async () => {
  const stop = new AbortController();
  await using server = await rawServer(() => stop.abort());
  await using client = loopbackClient();
  const exchange = await get(client, server.origin, {signal: stop.signal});
  assert.equal(exchange.reason, 'interrupted');
  assert.equal(exchange.head, null);
  assert.equal((await get(client, server.origin, {signal: stop.signal})).reason, 'interrupted');
  assert.equal(server.requests.length, 1);
});

test('one signal ends many exchanges, without a word of Node’s about listeners', async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', onWarning);
  const stop = new AbortController();
  let asked = 0;
  await using server = await rawServer(() => {
    asked += 1;
    if (asked === 30) stop.abort();
  });
  await using client = loopbackClient();
  const all = await Promise.all(
    Array.from({length: 30}, (_, i) => get(client, `${server.origin}/${i}`, {signal: stop.signal})),
  );
  assert.deepEqual(new Set(all.map(({reason}) => reason)), new Set(['interrupted']));
  process.off('warning', onWarning);
  assert.deepEqual(warnings, []);
});

test('closing the client ends all that runs, and nothing starts any more', async () => {
  let asked = 0;
  const client = loopbackClient();
  await using server = await rawServer((socket, {path}) => {
    asked += 1;
    if (path === '/half') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    if (asked === 2) void client.close();
  });
  const [hung, half] = await Promise.all([
    get(client, `${server.origin}/hang`),
    get(client, `${server.origin}/half`),
  ]);
  assert.equal(hung.reason, 'interrupted');
  assert.equal(half.reason, 'interrupted');
  assert.equal((await get(client, server.origin)).reason, 'interrupted');
});

test('what is no URL to be asked for is told so', async () => {
  await using client = loopbackClient();
  assert.equal((await get(client, 'not a url')).reason, 'url_invalid');
  assert.equal((await get(client, 'ftp://127.0.0.1/')).reason, 'scheme');
  assert.equal((await get(client, 'http://127.0.0.1:99999/')).reason, 'url_invalid');
  const exchange = await get(client, 'http://127.0.0.1:1/', {headers: [['X', 'a\r\nInjected: b']]});
  assert.equal(exchange.reason, 'url_invalid');
});
