import assert from 'node:assert/strict';
import test from 'node:test';
import {chanceOf} from '../../lib/fetcher/delay.ts';
import type {Fetcher} from '../../lib/fetcher/fetcher.ts';
import {sharedLimits} from '../../lib/fetcher/shared.ts';
import {
  configOf,
  noRule,
  type SimAnswer,
  type SimRequest,
  type SimWeb,
  simulate,
  VirtualClock,
} from '../support/fetch-sim.ts';

const urls = (host: string, count: number) =>
  Array.from({length: count}, (_, index) => `http://${host}/${index}`);
const pages =
  (answer: SimAnswer): SimWeb =>
  (url) =>
    url.endsWith('robots.txt') ? undefined : answer;
/** Most of something in any ten seconds. */
const mostIn10s = (events: readonly {readonly time: number; readonly amount: number}[]) =>
  Math.max(
    ...events.map(({time}) =>
      events
        .filter((other) => other.time >= time && other.time < time + 10_000)
        .reduce((sum, {amount}) => sum + amount, 0),
    ),
  );
const starts = (requests: readonly SimRequest[]) => requests.map(({start}) => ({time: start, amount: 1}));
const ruled =
  (host: string, rule: Partial<typeof noRule> | Record<string, unknown>) => (fetcher: Fetcher) => {
    const {hosts} = fetcher.work;
    hosts.applyRule(hosts.find(host)!, {...noRule, ...rule});
  };

test('requests a second to one host are held by setting and by rule; other hosts are not slowed', async () => {
  const list = [...urls('a.test', 60), ...urls('b.test', 60)];
  const web = pages({status: 200, body: 'x', tookMs: 500});
  const settings = {'politeness.max_per_host': '8', 'politeness.latency_factor': '0'};
  const sim = await simulate({
    list,
    web,
    config: configOf({...settings, 'politeness.max_rate_per_host': '2/s'}),
    prepare: (fetcher) => {
      ruled('a.test', {min_delay_ms: 10, max_connections: 8})(fetcher);
      ruled('b.test', {min_delay_ms: 10, max_connections: 8, max_rate: 4})(fetcher);
    },
  });
  const a = mostIn10s(starts(sim.of('a.test')));
  const b = mostIn10s(starts(sim.of('b.test')));
  assert.ok(a <= 21 && a >= 19, `${a} of 20`);
  assert.ok(b <= 42 && b >= 38, `${b} of 40`);
});

test('bytes a second from one host are held while a large payload is read, and do not count as a slow answer', async () => {
  const body = 'x'.repeat(400_000);
  const read: {time: number; amount: number}[] = [];
  const clock = new VirtualClock();
  const sim = await simulate({
    clock,
    list: urls('a.test', 6),
    web: (url) => (url.endsWith('robots.txt') ? undefined : {status: 200, body, tookMs: 10}),
    config: configOf({'politeness.max_bandwidth_per_host': '100kB/s'}),
    prepare: ruled('a.test', {min_delay_ms: 10}),
    onPiece: (bytes) => read.push({time: clock.time, amount: bytes}),
  });
  const most = mostIn10s(read);
  assert.ok(most <= 1_050_000 && most >= 900_000, `${most}`);
  const host = sim.fetcher.work.hosts.find('a.test')!;
  assert.equal(host.politeness.latencyMs, 5 * 10, 'the time that we did not read is not the host’s');
  assert.equal(sim.outcomes()['http://a.test/0'], 'success - 200');

  // Nor is it when the fetch is taken up again
  const resumed = await simulate({
    clock,
    list: urls('a.test', 7),
    web: (url) => (url.endsWith('robots.txt') ? undefined : {status: 200, body, tookMs: 10}),
    config: configOf({'politeness.max_bandwidth_per_host': '100kB/s'}),
    resume: {rows: sim.rows, payloads: sim.payloads, proven: true},
    settings: {closed: true},
  });
  const {latencyMs} = resumed.fetcher.work.hosts.find('a.test')!.politeness;
  assert.ok(latencyMs <= 5 * 10, `${latencyMs}`);
});

test('hours by hand: the host waits for them, others do not', async () => {
  const clock = new VirtualClock();
  clock.time = Date.parse('2027-03-01T21:50:00Z');
  const sim = await simulate({
    clock,
    list: [...urls('night.test', 3), ...urls('day.test', 3)],
    web: pages({status: 200, body: ''}),
    prepare: ruled('night.test', {hours: '22:00-06:00'}),
  });
  assert.equal(sim.of('night.test')[0]!.start, Date.parse('2027-03-01T22:00:00Z'));
  assert.equal(sim.of('night.test').length, 4);
  assert.ok(sim.of('day.test').at(-1)!.end < Date.parse('2027-03-01T21:51:00Z'));
});

test('hours by hand further off than a fetch waits: the rows say when, and so does the state of the host', async () => {
  const clock = new VirtualClock();
  clock.time = Date.parse('2027-03-01T12:00:00Z');
  const sim = await simulate({
    clock,
    list: urls('night.test', 3),
    web: pages({status: 200, body: ''}),
    prepare: ruled('night.test', {hours: '22:00-06:00'}),
  });
  assert.equal(sim.requests.length, 0);
  assert.equal(sim.rows.length, 3);
  assert.deepEqual([...new Set(Object.values(sim.outcomes()))], ['skipped host_resting -']);
  assert.match(sim.rows[0]!.reason_detail!, /22:00-06:00 UTC only.*next at 2027-03-01T22:00:00/);
  const host = sim.fetcher.work.hosts.find('night.test')!;
  assert.ok(host.changed);
  assert.equal(host.politeness.nextAllowed, Date.parse('2027-03-01T22:00:00Z'));
});

test('two fetches of one process hold the limits of addresses, of all requests and of rates together', async () => {
  const clock = new VirtualClock();
  const config = configOf({'fetch.max_active': '6', 'fetch.max_rate': '8/s', 'politeness.max_per_ip': '3'});
  const shared = sharedLimits(config, config.fetch.max_active);
  const part = (name: string) =>
    simulate({
      clock,
      config,
      list: Array.from({length: 12}, (_, index) => urls(`${name}${index}.${name}${index}`, 4)).flat(),
      web: pages({status: 200, body: '', tookMs: 700}),
      addresses: (url) => [Number(/\d+/.exec(url)![0]) % 2 === 0 ? '192.0.2.1' : '192.0.2.2'],
      settings: {shared},
    });
  const both = await Promise.all([part('a'), part('b')]);
  const requests = both.flatMap((sim) => sim.requests);
  assert.equal(requests.length, 2 * 12 * 5, 'nobody starves');
  const beside = (same: (a: SimRequest, b: SimRequest) => boolean) =>
    Math.max(
      ...requests.map(
        (one) =>
          requests.filter((other) => other.start <= one.start && other.end > one.start && same(one, other))
            .length,
      ),
    );
  const parity = ({url}: SimRequest) => Number(/\d+/.exec(url)![0]) % 2;
  assert.equal(
    beside(() => true),
    6,
  );
  assert.equal(
    beside((a, b) => parity(a) === parity(b)),
    3,
  );
  assert.ok(mostIn10s(starts(requests)) <= 84);
});

test('requests that look whether an outage is over keep to max_rate and to the hours', async () => {
  const list = Array.from({length: 100}, (_, index) => urls(`h${index}.test${index}`, 1)).flat();
  const clock = new VirtualClock();
  clock.time = Date.parse('2027-03-01T21:50:00Z');
  const closed = Date.parse('2027-03-01T22:00:00Z');
  const sim = await simulate({
    clock,
    list,
    config: configOf({
      'fetch.max_rate': '1/s',
      'fetch.hours': '20:00-22:00',
      'fetch.outage_hosts': '6',
      'politeness.max_rest': '2h',
    }),
    web: () => ({reason: 'connect', tookMs: 1}),
    settings: {windowMs: 3_600_000},
  });
  const most = mostIn10s(starts(sim.requests));
  assert.ok(sim.requests.length > 50 && most <= 11, `${most} of 10`);
  const late = sim.requests.filter(({start}) => start >= closed);
  assert.deepEqual(late, []);
});

test('an outage is charged to nobody by a fetch that waits for the places of another', async () => {
  for (const maxActive of [1, 2, 4]) {
    const clock = new VirtualClock();
    const config = configOf({'fetch.max_active': `${maxActive}`, 'fetch.outage_hosts': '6'});
    const shared = sharedLimits(config, maxActive);
    const part = (name: string) =>
      simulate({
        clock,
        config,
        list: Array.from({length: 12}, (_, index) => `http://${name}${index}.${name}${index}/`),
        web: () => ({reason: 'connect', tookMs: 50}),
        settings: {shared},
      });
    for (const sim of await Promise.all([part('a'), part('b')]))
      assert.deepEqual(
        [...new Set(Object.values(sim.outcomes()))],
        ['skipped own_network -'],
        `${maxActive}`,
      );
  }
});

test('a sitemap that was redirected may be as long as a sitemap, before and after the fetch is taken up again', async () => {
  const asked = new Map<string, number>();
  const list = [{url: 'http://a.test/sitemap.xml', kind: 'sitemap' as const}, 'http://a.test/page'];
  const web: SimWeb = (url) => {
    if (url.endsWith('/sitemap.xml')) return {status: 301, headers: [['location', '/maps/1.xml']]};
    if (url.endsWith('/page')) return {status: 301, headers: [['location', '/other']]};
    return url.endsWith('robots.txt') ? undefined : {status: 200, body: ''};
  };
  const onRequest = (url: string, maxBody: number) => asked.set(new URL(url).pathname, maxBody);
  const whole = await simulate({list, web, onRequest});
  assert.equal(asked.get('/maps/1.xml'), asked.get('/sitemap.xml'));
  assert.equal(asked.get('/other'), asked.get('/page'));
  assert.ok(asked.get('/maps/1.xml')! > asked.get('/page')!);
  asked.clear();
  const rows = whole.rows.filter(({kind}) => kind !== 'hop');
  await simulate({list, web, onRequest, resume: {rows, payloads: whole.payloads, proven: true}});
  assert.deepEqual([...asked.keys()].sort(), ['/maps/1.xml', '/other']);
  assert.ok(asked.get('/maps/1.xml')! > asked.get('/other')!);
});

test('the jitter of a rest is reckoned again when a fetch goes on', async () => {
  const config = configOf({'politeness.jitter': '0.5'});
  const list = urls('a.test', 2);
  const web = pages({status: 503});
  const first = await simulate({list, web, config, settings: {windowMs: 5000}});
  const rest = first.fetcher.work.hosts.find('a.test')!.politeness;
  const asked = first.rows.filter(({status}) => status !== 'skipped');
  assert.ok(rest.backoffMs > 300_000 && rest.backoffMs < 450_000);
  const again = await simulate({
    list,
    web,
    config,
    settings: {windowMs: 5000},
    resume: {rows: asked, payloads: first.payloads, proven: true},
  });
  assert.deepEqual(again.fetcher.work.hosts.find('a.test')!.politeness, rest);
});

test('chance by name is spread over its whole range', () => {
  const chances = Array.from({length: 10_000}, (_, index) => chanceOf(`20270101000000-p0-${index}`));
  for (let tenth = 0; tenth < 10; tenth++) {
    const within = chances.filter((chance) => Math.floor(chance * 10) === tenth).length;
    assert.ok(within > 850 && within < 1150, `${within} of 10,000 in tenth ${tenth}`);
  }
});
