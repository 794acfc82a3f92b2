import assert from 'node:assert/strict';
import {createSocket, type Socket} from 'node:dgram';
import {once} from 'node:events';
import {test} from 'node:test';
import {DnsCache, nameServers, type ResolvedAddress} from '../../lib/http/dns.ts';
import {parseHostsFile} from '../../lib/http/hosts-file.ts';
import {get, loopbackClient} from '../support/loopback-client.ts';
import {bytesOnly, rawServer} from '../support/raw-server.ts';

/** @param tookMs of each look-up, on the clock that is given back */
function fakeDns(
  answers: Record<string, readonly ResolvedAddress[]>,
  hosts = new Map<string, string[]>(),
  tookMs = 0,
) {
  const asked: string[] = [];
  const clock = {now: 0};
  const cache = new DnsCache({
    hosts,
    monotonic: () => clock.now,
    resolve: async (name) => {
      asked.push(name);
      clock.now += tookMs;
      const found = answers[name];
      if (found === undefined)
        throw Object.assign(new Error(`queryA ENOTFOUND ${name}`), {code: 'ENOTFOUND'});
      return found;
    },
  });
  return {asked, clock, cache};
}

const at = (address: string, ttl = 100) => ({address, ttl});

test('answers are kept for their TTL, within 60 seconds and 5 minutes', async () => {
  for (const [ttl, kept] of [
    [0, 60_000],
    [59, 60_000],
    [100, 100_000],
    [86_400, 300_000],
  ] as const) {
    const {asked, clock, cache} = fakeDns({'a.test': [at('192.0.2.1', ttl), at('192.0.2.2', 90_000)]});
    const first = await cache.lookup('a.test');
    assert.equal(first.ms, 0);
    clock.now = kept - 1;
    assert.equal((await cache.lookup('a.test')).ms, null);
    assert.equal(asked.length, 1, String(ttl));
    clock.now = kept;
    await cache.lookup('a.test');
    assert.equal(asked.length, 2, String(ttl));
  }
});

test('what a look-up ahead took is told to the first that connects, and to nobody else', async () => {
  const {clock, cache, asked} = fakeDns({'a.test': [at('192.0.2.1', 100)]}, new Map(), 40);
  const ahead = await cache.lookup('a.test', 'ahead');
  assert.deepEqual([ahead.ms, ahead.fresh], [40, true]);
  clock.now += 1000;
  const first = await cache.lookup('a.test');
  assert.deepEqual([first.ms, first.fresh], [40, false], 'its addresses may be asked for again');
  assert.equal((await cache.lookup('a.test')).ms, null);
  assert.equal((await cache.lookup('a.test', 'again')).ms, 40);
  assert.equal(asked.length, 2);
});

test('failures are kept for 30 seconds', async () => {
  const {asked, clock, cache} = fakeDns({'empty.test': []});
  for (const name of ['gone.test', 'empty.test']) {
    clock.now = 0;
    asked.length = 0;
    await assert.rejects(cache.lookup(name), {reason: 'dns'});
    clock.now = 29_999;
    await assert.rejects(cache.lookup(name), {reason: 'dns', message: new RegExp(name)});
    assert.equal(asked.length, 1);
    clock.now = 30_000;
    await assert.rejects(cache.lookup(name), {reason: 'dns'});
    assert.equal(asked.length, 2);
  }
});

test('addresses take turns, IPv4 before IPv6', async () => {
  const {cache} = fakeDns({'a.test': [at('2a00::1'), at('192.0.2.1'), at('192.0.2.2'), at('2a00::2')]});
  const orders = [];
  for (let i = 0; i < 3; i += 1) orders.push((await cache.lookup('a.test')).addresses.join(' '));
  assert.deepEqual(orders, [
    '192.0.2.1 192.0.2.2 2a00::1 2a00::2',
    '192.0.2.2 192.0.2.1 2a00::2 2a00::1',
    '192.0.2.1 192.0.2.2 2a00::1 2a00::2',
  ]);
});

test('one question for all who ask at once; a trailing dot is the same name', async () => {
  const {asked, cache} = fakeDns({'a.test': [at('192.0.2.1')]});
  await Promise.all(['a.test', 'a.test.', 'a.test'].map((name) => cache.lookup(name)));
  assert.deepEqual(asked, ['a.test']);
});

test('the hosts file comes first, and localhost is never asked for', async () => {
  const hosts = parseHostsFile('127.0.0.1 Site.TEST other.test # comment\r\n\n::1\tsite.test\nnonsense x\n');
  const {asked, cache} = fakeDns({}, hosts);
  assert.deepEqual((await cache.lookup('site.test')).addresses, ['127.0.0.1', '::1']);
  assert.deepEqual((await cache.lookup('localhost')).addresses, ['127.0.0.1', '::1']);
  assert.deepEqual((await cache.lookup('x.localhost.')).addresses, ['127.0.0.1', '::1']);
  assert.deepEqual(asked, []);
});

test('all addresses are tried before the host is blamed', async () => {
  await using server = await rawServer(bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  await using client = loopbackClient(
    {},
    {
      resolve: async () => ['127.0.0.2', '127.0.0.3', '127.0.0.1'].map((address) => at(address)),
      hosts: new Map(),
    },
  );
  // The server listens on 127.0.0.1 only; the others refuse.
  for (let i = 0; i < 3; i += 1) {
    const exchange = await get(client, `http://multi.test:${server.port}/`);
    assert.equal(exchange.reason, null, exchange.detail ?? '');
    assert.equal(exchange.connection?.ip, '127.0.0.1');
    client.release(`http://multi.test:${server.port}`);
  }
  const none = loopbackClient(
    {},
    {resolve: async () => [at('127.0.0.2'), at('127.0.0.3')], hosts: new Map()},
  );
  const failed = await get(none, `http://multi.test:${server.port}/`);
  assert.equal(failed.reason, 'connect');
  await none.close();
});

test('cached addresses that don’t connect are asked for once more', async () => {
  await using server = await rawServer(
    bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
  );
  const answers = [['127.0.0.2'], ['127.0.0.1']];
  let asked = 0;
  await using client = loopbackClient(
    {},
    {
      hosts: new Map(),
      resolve: async () => {
        asked += 1;
        return (answers.shift() ?? ['127.0.0.1']).map((address) => at(address));
      },
    },
  );
  const url = `http://moved.test:${server.port}/`;
  assert.deepEqual(await client.addresses(url), ['127.0.0.2']);
  const exchange = await get(client, url);
  assert.equal(exchange.reason, null, exchange.detail ?? '');
  assert.equal(asked, 2);
});

test('a name without address ends as dns', async () => {
  await using client = loopbackClient(
    {},
    {
      hosts: new Map(),
      resolve: async () => {
        throw new Error('queryA ENOTFOUND gone.test');
      },
    },
  );
  const exchange = await get(client, 'http://gone.test/');
  assert.equal(exchange.reason, 'dns');
  assert.match(exchange.detail ?? '', /gone\.test/);
  assert.deepEqual(await client.addresses('http://gone.test/'), []);
});

/** A name server on loopback: A records for *.ok.test, none but AAAA for six.test, NXDOMAIN for the rest. */
async function nameServer(): Promise<{socket: Socket; address: string; asked: string[]}> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let end = 12;
    for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    const question = query.subarray(12, end + 5);
    const type = query.readUInt16BE(end + 1);
    const name = labels.join('.').toLowerCase();
    asked.push(`${name} ${type}`);
    const a = type === 1 && name.endsWith('ok.test');
    const aaaa = type === 28 && name === 'six.test';
    const known = name.endsWith('ok.test') || name === 'six.test';
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(known ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(a || aaaa ? 1 : 0, 6);
    const data = a ? Buffer.from([127, 0, 0, 1]) : Buffer.from([...Array(15).fill(0), 1]);
    const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 1, 44, 0, data.length, ...data]);
    socket.send(Buffer.concat([header, question, ...(a || aaaa ? [record] : [])]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {socket, address: `127.0.0.1:${socket.address().port}`, asked};
}

test('configured name servers are asked, over the wire', async () => {
  const {socket, address, asked} = await nameServer();
  try {
    const {resolve, cancel} = nameServers([address]);
    assert.deepEqual(
      (await resolve('www.ok.test')).filter((one) => !one.address.includes(':')),
      [{address: '127.0.0.1', ttl: 300}],
    );
    assert.deepEqual(await resolve('six.test'), [{address: '::1', ttl: 300}]);
    await assert.rejects(resolve('gone.test'), {code: 'ENOTFOUND'});
    cancel();
    await using server = await rawServer(bytesOnly('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    await using client = loopbackClient({dnsServers: [address]});
    const exchange = await get(client, `http://page.ok.test:${server.port}/`);
    assert.equal(exchange.reason, null, exchange.detail ?? '');
    assert.ok((exchange.timings.dns ?? -1) >= 0);
    assert.equal((await get(client, `http://gone.test:${server.port}/`)).reason, 'dns');
    assert.ok(asked.includes('page.ok.test 1'));
  } finally {
    socket.close();
  }
});
