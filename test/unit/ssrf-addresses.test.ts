import assert from 'node:assert/strict';
import {test} from 'node:test';
import {addressPolicy, classifyAddress} from '../../lib/http/address.ts';
import {get, loopbackClient} from '../support/loopback-client.ts';
import {bytesOnly, rawServer} from '../support/raw-server.ts';

const kinds: readonly (readonly [address: string, kind: string])[] = [
  ['0.0.0.0', 'this network'],
  ['0.255.255.255', 'this network'],
  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['100.63.255.255', 'public'],
  ['100.64.0.0', 'carrier-grade NAT'],
  ['100.127.255.255', 'carrier-grade NAT'],
  ['100.128.0.0', 'public'],
  ['100.100.100.200', 'metadata'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['172.15.255.255', 'public'],
  ['172.16.0.0', 'private'],
  ['172.31.255.255', 'private'],
  ['172.32.0.0', 'public'],
  ['192.0.0.8', 'protocol assignment'],
  ['192.0.0.192', 'metadata'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', '6to4 relay'],
  ['192.167.255.255', 'public'],
  ['192.168.0.1', 'private'],
  ['192.169.0.0', 'public'],
  ['198.17.255.255', 'public'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.7', 'documentation'],
  ['223.255.255.255', 'public'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['1.1.1.1', 'public'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:1.1.1.1', 'public'],
  ['::ffff:0:10.0.0.1', 'private'],
  ['64:ff9b::10.0.0.1', 'private'],
  ['64:ff9b::a9fe:a9fe', 'metadata'],
  ['64:ff9b::1.1.1.1', 'public'],
  ['64:ff9b:1::1.1.1.1', 'local translation'],
  ['100::1', 'discard'],
  ['2001::1', 'Teredo'],
  ['2001:20::1', 'protocol assignment'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['2002:7f00:1::', '6to4'],
  ['2002:101:101::', '6to4'],
  ['fc00::1', 'private'],
  ['fd12:3456::1', 'private'],
  ['fd00:ec2::254', 'metadata'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['febf::1', 'link-local'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['4000::1', 'reserved'],
  ['5f00::1', 'reserved'],
  ['2606:4700:4700::1111', 'public'],
  ['2a00::1', 'public'],
];

test('each address is of its kind, ranges at both ends', () => {
  for (const [address, kind] of kinds) assert.equal(classifyAddress(address), kind, address);
  for (const text of ['', 'localhost', '1.2.3', '1.2.3.4.5', '256.1.1.1', '::g', '1::2::3', '[::1]']) {
    assert.equal(classifyAddress(text), undefined, text);
  }
});

test('only public addresses may be reached unless their range is allowed', () => {
  const strict = addressPolicy([]);
  for (const [address, kind] of kinds) {
    assert.equal(strict(address) === undefined, kind === 'public', address);
  }
  const some = addressPolicy(['127.0.0.0/8', 'fd00::/8', '10.1.2.3', '[::1]/128']);
  for (const ip of ['127.0.0.1', '::ffff:127.9.9.9', 'fd00::5', '10.1.2.3', '::1', '64:ff9b::7f00:1']) {
    assert.equal(some(ip), undefined, ip);
  }
  for (const ip of ['10.1.2.4', '126.255.255.255', 'fc00::1', '::2', '64:ff9b::a01:204']) {
    assert.equal(some(ip) === undefined, classifyAddress(ip) === 'public', ip);
  }
  assert.match(some('169.254.169.254') ?? '', /metadata/);
});

test('a range that is none is an error of the configuration', () => {
  for (const range of ['127.0.0.0/33', '127.0.0/8', 'local', '::1/129', '1.1.1.1/-1', '']) {
    assert.throws(() => addressPolicy([range]), {code: 'CONFIG_INVALID'}, range);
  }
});

/** Hosts as they stand in links; all mean an address that a stranger's page must not make us ask. */
const spellings = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7F.0.0.1',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0x0.1',
  '127.0.0.1.',
  '127.000.000.001',
  '%31%32%37.0.0.1',
  '127。0。0。1',
  '127.0.0.1',
  '①②⑦.0.0.1',
  '127.0.0.1%2E',
  'user@127.0.0.1',
  'example.com@127.0.0.1',
  'example.com:80@127.0.0.1',
  '0',
  '0.0.0.0',
  '00000',
  '0x0',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::FFFF:7F00:0001]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a00:1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '10.0.0.1',
  '10.1',
  '167772161',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '192.168.257',
  '0xc0a80101',
  '100.64.0.1',
  '169.254.169.254',
  '2852039166',
  '0xA9FEA9FE',
  '0251.0376.0251.0376',
  '169.254.43518',
  '[::ffff:169.254.169.254]',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  '198.18.0.1',
  '224.0.0.251',
  '255.255.255.255',
  '4294967295',
  '240.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'a.b.localhost.',
  // Names of the table below, as a hostile name server would answer.
  'loopback.test',
  'mapped.test',
  'metadata.test',
  'translated.test',
  'mixed-private.test',
  'hosted.test',
];

const names: Readonly<Record<string, readonly string[]>> = {
  'loopback.test': ['127.0.0.1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'translated.test': ['64:ff9b::7f00:1'],
  'mixed-private.test': ['10.0.0.1', 'fd00::1', '127.0.0.1'],
};

test('no spelling of a private address leads to a connection', async () => {
  await using server = await rawServer(bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  await using client = loopbackClient(
    {allow: []},
    {
      resolve: async (name) => (names[name] ?? []).map((address) => ({address, ttl: 60})),
      hosts: new Map([['hosted.test', ['127.0.0.1', '::1']]]),
    },
  );
  assert.ok(spellings.length >= 60, String(spellings.length));
  for (const host of spellings) {
    const {reason, requestHeader} = await get(client, `http://${host}:${server.port}/`);
    assert.equal(reason, 'address_refused', host);
    assert.equal(requestHeader, null, host);
    assert.deepEqual(await client.addresses(`http://${host}:${server.port}/`), [], host);
  }
  assert.equal(server.connections, 0);
});

test('of a name with public and private addresses only the public ones are tried', async () => {
  await using client = loopbackClient(
    {allow: ['127.0.0.0/8']},
    {
      resolve: async () =>
        ['10.0.0.1', '127.0.0.1', '169.254.169.254'].map((address) => ({address, ttl: 60})),
    },
  );
  await using server = await rawServer(bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  assert.deepEqual(await client.addresses('http://mixed.test/'), ['127.0.0.1']);
  const exchange = await get(client, `http://mixed.test:${server.port}/`);
  assert.equal(exchange.connection?.ip, '127.0.0.1');
});

test('the address that a socket is really connected to has the last word', async () => {
  await using server = await rawServer(bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  await using client = loopbackClient({allow: ['0.0.0.0/8']});
  // Connecting to 0.0.0.0 reaches loopback, which is not allowed here.
  const exchange = await get(client, `http://0.0.0.0:${server.port}/`);
  assert.equal(exchange.reason, 'address_refused');
  assert.match(exchange.detail ?? '', /127\.0\.0\.1 is loopback/);
  assert.deepEqual(server.requests, []);
});

test('rebinding: a name is checked again at each look-up', async () => {
  let now = 0;
  const answers = ['127.0.0.1', '10.0.0.1'];
  await using server = await rawServer(
    bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
  );
  await using client = loopbackClient(
    {allow: ['127.0.0.0/8']},
    {
      resolve: async () => [{address: answers.shift() ?? '10.0.0.1', ttl: 0}],
      monotonic: () => now,
    },
  );
  const url = `http://rebind.test:${server.port}/`;
  assert.equal((await get(client, url)).reason, null);
  now += 61_000;
  assert.equal((await get(client, url)).reason, 'address_refused');
});

test('connect_to: an address written there may be reached by that entry and in no other way', async () => {
  await using server = await rawServer(bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  await using client = loopbackClient(
    {
      allow: [],
      connectTo: {
        'pinned.test:80': `127.0.0.1:${server.port}`,
        'named.test:*': `other.test:${server.port}`,
        '[2a00::1]:80': `127.0.0.1:${server.port}`,
      },
    },
    {resolve: async () => [{address: '127.0.0.1', ttl: 60}], hosts: new Map()},
  );
  const pinned = await get(client, 'http://pinned.test/');
  assert.equal(pinned.reason, null);
  assert.match(server.requests[0] ?? '', /^host: pinned\.test\r$/im);
  assert.deepEqual(await client.addresses('http://pinned.test/'), ['127.0.0.1']);
  assert.equal((await get(client, 'http://[2a00::1]/')).reason, null);
  // By a name as target, by the address itself, and by another port of the same host: refused.
  assert.equal((await get(client, 'http://named.test/')).reason, 'address_refused');
  assert.equal((await get(client, server.origin)).reason, 'address_refused');
  assert.equal((await get(client, `http://pinned.test:${server.port}/`)).reason, 'address_refused');
  assert.equal(server.requests.length, 2);
});
