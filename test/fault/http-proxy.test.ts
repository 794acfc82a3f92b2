import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {HttpProxy} from '../../lib/http/proxy.ts';
import {certificate} from '../support/certificate.ts';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {type ProxyServer, proxyServer} from '../support/proxy-server.ts';
import {bytesOnly, rawServer} from '../support/raw-server.ts';

const site = certificate('site', 'DNS:site.test,DNS:proxy.test');
const answer = bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
const login = {authorization: 'Basic dXNlcjpzZWNyZXQ='};

function through({port, name}: ProxyServer, more: Partial<HttpProxy> = {}) {
  return [{pattern: '*', proxy: {secure: false, host: '127.0.0.1', port, name, ...more}}];
}

test('http goes through a proxy by the whole URL, its password masked in what is kept', async () => {
  await using server = await rawServer(answer);
  await using proxy = await proxyServer(() => server.port);
  // The proxy's own address needs no permission: the operator has named it.
  await using client = loopbackClient({proxies: through(proxy, login), allow: []});
  for (const path of ['/a?b', '/c']) {
    const exchange = await get(client, `http://site.test${path}`);
    assert.deepEqual([exchange.reason, latin1(exchange.body)], [null, 'ok'], exchange.detail ?? '');
    assert.deepEqual(exchange.connection, {
      ip: null,
      protocol: 'http/1.1',
      tlsVersion: null,
      tlsCipher: null,
      tlsVerified: null,
      proxy: proxy.name,
    });
    const header = latin1(exchange.requestHeader) ?? '';
    assert.match(
      header,
      new RegExp(
        `^GET http://site\\.test${path.replace('?', '\\?')} HTTP/1\\.1\\r\\nhost: site\\.test\\r\\n`,
      ),
    );
    assert.match(header, /\r\nProxy-Authorization: \*\*\*\r\n/);
    assert.doesNotMatch(header, /dXNlc/);
  }
  assert.deepEqual(proxy.asked, [
    {line: 'GET http://site.test/a?b', password: login.authorization},
    {line: 'GET http://site.test/c', password: login.authorization},
  ]);
  assert.deepEqual(await client.addresses('http://site.test/'), []);
  for (const request of server.requests) assert.doesNotMatch(request, /proxy-auth/i);
});

test('https goes through a tunnel, in which the certificate is the host’s and the password not seen', async () => {
  await using server = await rawServer(answer, {tls: site});
  await using proxy = await proxyServer(() => server.port);
  await using client = loopbackClient({proxies: through(proxy, login)}, {tls: {ca: site.cert}});
  for (const path of ['/1', '/2']) {
    const exchange = await get(client, `https://site.test${path}`);
    assert.equal(exchange.reason, null, exchange.detail ?? '');
    assert.equal(exchange.connection?.tlsVersion, 'TLSv1.3');
    assert.equal(exchange.connection?.tlsVerified, true);
    assert.equal(exchange.connection?.proxy, proxy.name);
    assert.equal(latin1(exchange.requestHeader), server.requests.at(-1));
  }
  assert.deepEqual(
    proxy.asked,
    [{line: 'CONNECT site.test:443', password: login.authorization}],
    'one tunnel',
  );
  const wrong = await get(client, 'https://other.test/');
  assert.equal(wrong.reason, 'tls');
  assert.equal(server.requests.length, 2);
});

test('a proxy over TLS is verified by its own name', async () => {
  await using server = await rawServer(answer, {tls: site});
  // A TLS front that speaks CONNECT by hand, and answers for the host behind itself.
  await using front = await rawServer(
    (socket, {header}) => {
      if (header.startsWith('CONNECT')) socket.end('HTTP/1.1 502 Not today\r\n\r\n');
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy');
    },
    {tls: {...site, ALPNProtocols: ['h2', 'http/1.1']}},
  );
  const rule = (host: string) => [
    {pattern: '*', proxy: {secure: true, host, port: front.port, name: `${host}:${front.port}`}},
  ];
  const edges = {
    tls: {ca: site.cert},
    hosts: new Map(['proxy.test', 'bad.test'].map((name) => [name, ['127.0.0.1']])),
  };
  await using client = loopbackClient({proxies: rule('proxy.test')}, edges);
  const plain = await get(client, 'http://site.test/');
  assert.deepEqual([latin1(plain.body), plain.connection?.tlsVersion], ['proxy', null]);
  // To the proxy itself HTTP/1.1 is spoken, whatever else it offers
  await using modern = loopbackClient({proxies: rule('proxy.test'), http2: true}, edges);
  assert.equal(latin1((await get(modern, 'http://site.test/')).body), 'proxy');
  const refused = await get(client, `https://site.test:${server.port}/`);
  assert.equal(refused.reason, 'connect');
  assert.match(refused.detail ?? '', /does not connect to site\.test:\d+: 502 Not today/);
  await using misled = loopbackClient({proxies: rule('bad.test')}, edges);
  const other = await get(misled, 'http://site.test/');
  assert.equal(other.reason, 'own_network');
  assert.match(other.detail ?? '', /^proxy bad\.test:\d+: .*altnames/);
});

test('what is the proxy’s fault is ours: nobody is charged', async () => {
  await using server = await rawServer(answer);
  await using asking = await proxyServer(() => server.port, {refuse: () => 407});
  await using client = loopbackClient({proxies: through(asking)});
  for (const url of ['http://site.test/', 'https://site.test/']) {
    const exchange = await get(client, url);
    assert.deepEqual([exchange.reason, exchange.head], ['own_network', null], url);
    assert.match(exchange.detail ?? '', /asks for user and password \(407\)/);
  }
  const gone = through(asking);
  await asking[Symbol.asyncDispose]();
  await using late = loopbackClient({proxies: gone});
  for (const url of ['http://site.test/', 'https://site.test/']) {
    const exchange = await get(late, url);
    assert.equal(exchange.reason, 'own_network');
    assert.match(exchange.detail ?? '', /^proxy 127\.0\.0\.1:\d+: .*ECONNREFUSED/);
    assert.equal(exchange.requestHeader, null);
  }
});

test('a proxy that is silent, hangs up or talks nonsense at CONNECT', async () => {
  await using silent = await proxyServer(() => 0, {silent: true});
  await using hangingUp = await rawServer((socket) => socket.destroy());
  await using nonsense = await rawServer(bytesOnly('SSH-2.0-x\r\n\r\n'));
  const rule = (port: number) => [
    {pattern: '*', proxy: {secure: false, host: '127.0.0.1', port, name: `127.0.0.1:${port}`}},
  ];
  const asked = async (port: number) => {
    await using client = loopbackClient({proxies: rule(port), connectTimeoutMs: 200});
    return await get(client, 'https://site.test/');
  };
  const hung = await asked(silent.port);
  assert.equal(hung.reason, 'connect_timeout');
  assert.match(hung.detail ?? '', /no connection to site\.test:443 within 200 ms/);
  assert.equal((await asked(hangingUp.port)).reason, 'own_network');
  assert.equal((await asked(nonsense.port)).reason, 'own_network');
  await Promise.all([hangingUp.allClosed(), nonsense.allClosed()]);
});

test('addresses in a URL that may not be reached are not asked of a proxy either', async () => {
  await using proxy = await proxyServer(() => 0, {refuse: () => 200});
  await using client = loopbackClient({proxies: through(proxy), allow: []});
  const urls = [
    ...['http://127.0.0.1/', 'http://localhost/', 'https://a.localhost./', 'http://[::ffff:10.0.0.1]/'],
    ...['http://169.254.169.254/latest', 'https://192.168.1.1/', 'http://0x7f.1/', 'http://[fe80::1]/'],
  ];
  for (const url of urls) assert.equal((await get(client, url)).reason, 'address_refused', url);
  assert.deepEqual(proxy.asked, []);
  assert.equal((await get(client, 'http://site.test/')).reason, null);
});

test('the first rule that fits a host decides, and may say direct', async () => {
  await using server = await rawServer(answer);
  await using one = await proxyServer(() => server.port);
  await using two = await proxyServer(() => server.port);
  const proxies = [
    {pattern: 'near.test', proxy: undefined},
    ...through(two).map((rule) => ({...rule, pattern: '*.far.test'})),
    {pattern: 'far.test', proxy: undefined},
    ...through(one),
  ];
  await using client = loopbackClient({proxies, connectTo: {'*:80': `127.0.0.1:${server.port}`}});
  const proxyOf = async (host: string) => (await get(client, `http://${host}/`)).connection?.proxy;
  assert.equal(await proxyOf('near.test'), null);
  assert.equal(await proxyOf('near.test.'), null);
  assert.equal(await proxyOf('x.far.test'), two.name);
  assert.equal(await proxyOf('far.test'), null);
  assert.equal(await proxyOf('notfar.test'), one.name);
});
