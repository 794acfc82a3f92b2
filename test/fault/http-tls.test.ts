import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, test} from 'node:test';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {bytesOnly, rawServer} from '../support/raw-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'http-tls-'));
after(() => rmSync(folder, {recursive: true}));

/** A self-signed certificate, made now. */
function certificate(name: string, altNames: string, days = 2): {cert: string; key: string} {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      key,
    ].concat([
      '-out',
      cert,
      '-days',
      String(days),
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${altNames}`,
    ]),
    {stdio: 'ignore'},
  );
  return {cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8')};
}

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
