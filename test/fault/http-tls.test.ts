import assert from 'node:assert/strict';
import {test} from 'node:test';
import {certificate} from '../support/certificate.ts';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {bytesOnly, rawServer} from '../support/raw-server.ts';

const good = certificate('site', 'DNS:site.test,IP:127.0.0.1');
const answer = bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
const hosts = new Map(['site.test', 'other.test'].map((name) => [name, ['127.0.0.1']]));

test('a verified connection, with its facts and raw bytes', async () => {
  for (const [maxVersion, tlsVersion, cipher] of [
    ['TLSv1.3', 'TLSv1.3', /^TLS_(AES|CHACHA20)_/],
    ['TLSv1.2', 'TLSv1.2', /^TLS_ECDHE_/],
  ] as const) {
    await using server = await rawServer(answer, {tls: {...good, maxVersion}});
    await using client = loopbackClient({}, {tls: {ca: good.cert}, hosts});
    for (const host of ['site.test', 'SITE.test.', '127.0.0.1']) {
      const exchange = await get(client, `https://${host}:${server.port}/`);
      assert.equal(exchange.reason, null, `${host}: ${exchange.detail}`);
      assert.equal(latin1(exchange.body), 'ok');
      assert.equal(exchange.connection?.ip, '127.0.0.1');
      assert.equal(exchange.connection?.tlsVersion, tlsVersion);
      assert.match(exchange.connection?.tlsCipher ?? '', cipher);
      assert.equal(latin1(exchange.responseHeader), 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n');
      assert.equal(latin1(exchange.requestHeader), server.requests.at(-1));
    }
    const again = await get(client, `https://site.test:${server.port}/`);
    assert.equal(again.timings.connect, null);
    assert.equal(again.connection?.tlsVersion, tlsVersion);
  }
});

test('the name that counts is the URL’s, wherever the connection goes', async () => {
  await using server = await rawServer(answer, {tls: good});
  const connectTo = {'*:443': `127.0.0.1:${server.port}`};
  await using client = loopbackClient({connectTo}, {tls: {ca: good.cert}, hosts: new Map()});
  assert.equal((await get(client, 'https://site.test/')).reason, null);
  const wrong = await get(client, 'https://other.test/');
  assert.equal(wrong.reason, 'tls');
  assert.match(wrong.detail ?? '', /altnames|other\.test/);
  assert.equal((await get(client, 'https://192.0.2.1/')).reason, 'tls');
});

test('certificates that can’t be trusted end as tls, and nothing is sent', async () => {
  await using server = await rawServer(answer, {tls: good});
  await using client = loopbackClient({}, {hosts});
  const exchange = await get(client, `https://site.test:${server.port}/`);
  assert.equal(exchange.reason, 'tls');
  assert.match(exchange.detail ?? '', /SELF_SIGNED/);
  assert.equal(exchange.requestHeader, null);
  assert.deepEqual(server.requests, []);
  await using trusting = loopbackClient({}, {tls: {ca: good.cert}, hosts});
  assert.equal((await get(trusting, `https://other.test:${server.port}/`)).reason, 'tls');
});

test('a server that does not speak TLS, closes in the handshake, or keeps silent', async () => {
  await using plain = await rawServer(answer, {
    onConnection: (socket) => socket.write('HTTP/1.1 400 Bad\r\n\r\n'),
  });
  await using closing = await rawServer(answer, {
    onConnection: (socket) => socket.once('data', () => socket.destroy()),
  });
  await using silent = await rawServer(answer);
  await using client = loopbackClient({connectTimeoutMs: 200});
  assert.equal((await get(client, `https://127.0.0.1:${plain.port}/`)).reason, 'tls');
  assert.equal((await get(client, `https://127.0.0.1:${closing.port}/`)).reason, 'tls');
  const hung = await get(client, `https://127.0.0.1:${silent.port}/`);
  assert.equal(hung.reason, 'connect_timeout');
  assert.match(hung.detail ?? '', /TLS handshake/);
});

test('a certificate that is wrong is let pass on the hosts named, and the exchange says so', async () => {
  await using server = await rawServer(answer, {tls: good});
  await using client = loopbackClient({unverifiedHosts: ['site.test']}, {hosts});
  for (let time = 0; time < 2; time++) {
    const passed = await get(client, `https://site.test:${server.port}/`);
    assert.equal(passed.reason, null, passed.detail ?? '');
    assert.equal(passed.connection?.tlsVerified, false);
    assert.match(passed.detail ?? '', /certificate let pass: .*SELF_SIGNED/);
    client.release(`https://site.test:${server.port}`);
  }
  assert.equal(
    (await get(client, `https://other.test:${server.port}/`)).reason,
    'tls',
    'others are verified',
  );
  await using trusting = loopbackClient(
    {unverifiedHosts: ['site.test', 'other.test']},
    {tls: {ca: good.cert}, hosts},
  );
  const verified = await get(trusting, `https://site.test:${server.port}/`);
  assert.deepEqual([verified.connection?.tlsVerified, verified.detail], [true, null]);
  for (let time = 0; time < 2; time++) {
    const named = await get(trusting, `https://other.test:${server.port}/`);
    assert.match(named.detail ?? '', /ALTNAME/, 'a resumed session would hide it');
    trusting.release(`https://other.test:${server.port}`);
  }
});
