import assert from 'node:assert/strict';
import {once} from 'node:events';
import {
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type {AddressInfo} from 'node:net';
import {test} from 'node:test';
import {certificate} from '../support/certificate.ts';
import {get, getOnce, latin1, loopbackClient} from '../support/loopback-client.ts';
import {proxyServer} from '../support/proxy-server.ts';
import {bytesOnly, rawServer} from '../support/raw-server.ts';

const site = certificate('site', 'DNS:site.test');
const edges = {tls: {ca: site.cert}, hosts: new Map([['site.test', ['127.0.0.1']]])};

type Answer = (stream: ServerHttp2Stream, path: string, headers: Readonly<Record<string, unknown>>) => void;

async function http2Server(answer: Answer) {
  const sessions = new Set<ServerHttp2Session>();
  let opened = 0;
  const server: Http2SecureServer = createSecureServer({...site, allowHTTP1: true});
  server.on('session', (session) => {
    opened++;
    sessions.add(session);
    session.on('error', () => undefined);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream, String(headers[':path']), headers);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo; // listening on TCP
  return {
    port,
    origin: `https://site.test:${port}`,
    sessions,
    get opened() {
      return opened;
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

test('an exchange over HTTP/2: the fields as text, its protocol, one connection for several', async () => {
  const seen: Readonly<Record<string, unknown>>[] = [];
  await using server = await http2Server((stream, _path, headers) => {
    seen.push(headers);
    stream.respond({
      ':status': 404,
      'x-one': ['a', 'b'],
      'set-cookie': ['c=1', 'd=2'],
      'content-type': 'text/html; charset=utf-8',
      'x-odd': 'h\xe9',
    });
    stream.end('sorry');
  });
  const credentials = new Map([[server.origin, [['Authorization', 'Basic c2VjcmV0'] as const]]]);
  await using client = loopbackClient({http2: true, credentials}, edges);
  for (let time = 0; time < 2; time++) {
    const exchange = await get(client, `${server.origin}/p?q#part`);
    assert.equal(exchange.reason, null, exchange.detail ?? '');
    assert.equal(exchange.connection?.protocol, 'h2');
    assert.equal(exchange.connection?.tlsVersion, 'TLSv1.3');
    assert.equal(exchange.connection?.ip, '127.0.0.1');
    assert.equal(latin1(exchange.body), 'sorry');
    assert.equal(exchange.head?.status, 404);
    assert.equal(
      latin1(exchange.requestHeader),
      `GET /p?q HTTP/2\r\nhost: site.test:${server.port}\r\nuser-agent: crawl-test/1.0\r\naccept: */*\r\nauthorization: ***\r\n\r\n`,
    );
    const lines = (latin1(exchange.responseHeader) ?? '').split('\r\n');
    assert.equal(lines[0], 'HTTP/2 404');
    for (const line of [
      'x-one: a, b',
      'set-cookie: c=1',
      'set-cookie: d=2',
      'x-odd: h\xe9',
      'content-type: text/html; charset=utf-8',
    ])
      assert.ok(lines.includes(line), `${line} in ${lines.join(' | ')}`);
    assert.deepEqual(lines.slice(-2), ['', '']);
    assert.equal(time === 0, exchange.timings.connect !== null);
    assert.ok((exchange.timings.firstByte ?? -1) >= 0);
  }
  assert.equal(server.opened, 1);
  assert.equal(seen[0]?.authorization, 'Basic c2VjcmV0');
});

test('off by default; a server without it is asked over HTTP/1.1', async () => {
  await using server = await http2Server((stream) => {
    stream.respond({':status': 200});
    stream.end('two');
  });
  await using plain = loopbackClient({}, edges);
  assert.equal((await get(plain, server.origin)).connection?.protocol, 'http/1.1');
  await using old = await rawServer(bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none'), {
    tls: {...site, ALPNProtocols: ['http/1.1']},
  });
  await using client = loopbackClient({http2: true}, edges);
  const exchange = await get(client, `https://site.test:${old.port}/`);
  assert.deepEqual([exchange.connection?.protocol, latin1(exchange.body)], ['http/1.1', 'one']);
  assert.equal(latin1(exchange.responseHeader), 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n');
});

test('caps, types and time-outs hold over HTTP/2', async () => {
  await using server = await http2Server((stream, path) => {
    if (path === '/silent') return;
    stream.respond({
      ':status': 200,
      'content-type': 'text/plain',
      ...(path === '/fields' && {x: 'y'.repeat(3000)}),
    });
    if (path === '/stuck') stream.write('begun');
    else stream.end('z'.repeat(100_000));
  });
  await using client = loopbackClient({http2: true, idleTimeoutMs: 300, maxHeaderBytes: 2000}, edges);
  const cut = await get(client, `${server.origin}/long`, {maxBody: 99_999});
  assert.deepEqual([cut.reason, cut.truncated, cut.body?.length], [null, 'length', 99_999]);
  const exact = await get(client, `${server.origin}/long`, {maxBody: 100_000});
  assert.deepEqual([exact.reason, exact.truncated, exact.body?.length], [null, null, 100_000]);
  const unwanted = await get(client, `${server.origin}/type`, {wantBody: () => false});
  assert.deepEqual([unwanted.truncated, unwanted.body?.length], ['length', 0]);
  const stuck = await get(client, `${server.origin}/stuck`);
  assert.deepEqual([stuck.reason, stuck.truncated, latin1(stuck.body)], ['timeout', 'time', 'begun']);
  const silent = await get(client, `${server.origin}/silent`);
  assert.deepEqual([silent.reason, silent.head], ['timeout', null]);
  assert.match(latin1(silent.requestHeader) ?? '', /^GET \/silent HTTP\/2/);
  assert.equal((await get(client, `${server.origin}/fields`)).reason, 'header_limit');
});

test('resets and goodbyes over HTTP/2 are told', async () => {
  await using server = await http2Server((stream, path) => {
    if (path === '/refused') stream.close(7);
    else if (path === '/gone') stream.session?.destroy();
    else {
      stream.respond({':status': 200, 'content-length': '1000'});
      stream.write('half');
      if (path === '/broken') setImmediate(() => stream.close(2));
      else if (path === '/short') stream.end();
      else {
        stream.session?.goaway(0);
        stream.end('x'.repeat(996));
      }
    }
  });
  for (const path of ['/refused', '/gone', '/broken', '/short']) {
    await using client = loopbackClient({http2: true}, edges);
    const exchange = await get(client, server.origin + path);
    assert.equal(exchange.reason, 'reset', `${path}: ${exchange.detail}`);
    assert.equal(exchange.head === null, path === '/refused' || path === '/gone', path);
  }
  await using client = loopbackClient({http2: true}, edges);
  const before = server.opened;
  // undici closes at a goodbye, also in the middle of an answer: it is told as what it is then, a reset.
  const bye = await get(client, `${server.origin}/bye`);
  assert.equal(bye.reason, bye.body?.length === 1000 ? null : 'reset', bye.detail ?? '');
  const again = await get(client, `${server.origin}/broken`);
  assert.equal(again.reason, 'reset');
  assert.equal(latin1(again.body), 'half');
  assert.equal(server.opened, before + 2, 'after a goodbye a new connection is made');
});

test('a kept connection over HTTP/2 that dies at the next request: told as stale, and nothing is sent again', async () => {
  const asked: string[] = [];
  await using server = await http2Server((stream, path) => {
    asked.push(path);
    if (path === '/second' && asked.length === 2) stream.session?.destroy();
    else {
      stream.respond({':status': 200});
      stream.end(path);
    }
  });
  await using client = loopbackClient({http2: true}, edges);
  assert.equal(latin1((await get(client, `${server.origin}/first`)).body), '/first');
  const second = await getOnce(client, `${server.origin}/second`);
  assert.deepEqual([second.reason, second.stale], ['reset', true]);
  assert.deepEqual(asked, ['/first', '/second']);
  assert.equal(latin1((await get(client, `${server.origin}/second`)).body), '/second');
  assert.equal(server.opened, 2);
});

test('HTTP/2 through a proxy’s tunnel', async () => {
  await using server = await http2Server((stream) => {
    stream.respond({':status': 200});
    stream.end('two');
  });
  await using proxy = await proxyServer(() => server.port);
  const proxies = [
    {pattern: '*', proxy: {secure: false, host: '127.0.0.1', port: proxy.port, name: proxy.name}},
  ];
  await using client = loopbackClient({http2: true, proxies}, edges);
  const exchange = await get(client, 'https://site.test/');
  assert.deepEqual(
    [exchange.reason, exchange.connection?.protocol, exchange.connection?.proxy],
    [null, 'h2', proxy.name],
  );
});
