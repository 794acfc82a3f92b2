import assert from 'node:assert/strict';
import test from 'node:test';
import {configOf, type SimAnswer, type SimWeb, simulate, VirtualClock} from '../support/fetch-sim.ts';

const ok: SimAnswer = {status: 200, body: 'a page'};
const urls = (host: string, count: number) =>
  Array.from({length: count}, (_, index) => `http://${host}/${index}`);
const gaps = (requests: readonly {start: number; end: number}[]) =>
  requests.slice(1).map((request, index) => request.start - requests[index]!.end);

test('many hosts at one address: four at once, and none is starved', async () => {
  const list = Array.from({length: 40}, (_, index) => urls(`h${index}.test${index}`, 3)).flat();
  const sim = await simulate({
    list,
    web: (url) => (url.endsWith('robots.txt') ? undefined : {...ok, tookMs: 500}),
    addresses: () => ['192.0.2.7'],
  });
  const most = Math.max(
    ...sim.requests.map(
      (one) => sim.requests.filter((other) => other.start <= one.start && other.end > one.start).length,
    ),
  );
  assert.equal(most, 4);
  assert.equal(Object.values(sim.outcomes()).filter((value) => value === 'success - 200').length, 120);
});

test('rates over all hosts are held within five percent over any ten seconds', async () => {
  const list = Array.from({length: 300}, (_, index) => urls(`h${index}.test${index}`, 5)).flat();
  const body = 'x'.repeat(10_000);
  const web: SimWeb = (url) => (url.endsWith('robots.txt') ? undefined : {status: 200, body});
  const most = (events: {time: number; amount: number}[]) =>
    Math.max(
      ...events.map(({time}) =>
        events
          .filter((other) => other.time >= time && other.time < time + 10_000)
          .reduce((sum, {amount}) => sum + amount, 0),
      ),
    );
  const rate = await simulate({list, web, config: configOf({'fetch.max_rate': '20/s'})});
  const requests = most(rate.requests.map(({start}) => ({time: start, amount: 1})));
  assert.ok(requests <= 210 && requests >= 195, `${requests}`);
  const bandwidth = await simulate({
    list,
    web,
    config: configOf({'fetch.max_bandwidth': '200kB/s', 'fetch.max_active': '4'}),
  });
  const bytes = most(
    bandwidth.requests.map(({end, url}) => ({time: end, amount: url.endsWith('txt') ? 8 : 10_000})),
  );
  assert.ok(bytes <= 2_100_000 && bytes >= 1_900_000, `${bytes}`);
});

test('what is on its way counts too: requests are sent as fast as the line may bring their answers, from the first on', async () => {
  const list = Array.from({length: 300}, (_, index) => urls(`h${index}.test${index}`, 4)).flat();
  const body = 'x'.repeat(30_000);
  const sim = await simulate({
    list,
    web: (url) => (url.endsWith('robots.txt') ? undefined : {status: 200, body, tookMs: 500}),
    config: configOf({'fetch.max_bandwidth': '600kB/s', 'politeness.latency_factor': '0'}),
    addresses: (url) => [new URL(url).hostname],
  });
  // As a small body comes: all of it, half a second after its request, however long we take to read it.
  const comes = sim.requests.filter(({url}) => !url.endsWith('txt')).map(({start}) => start + 500);
  const most = Math.max(
    ...comes.map((from) => comes.filter((time) => time >= from && time < from + 10_000).length),
  );
  assert.equal(comes.length, 1200);
  assert.ok(most * 30_000 <= 6_300_000, `${most * 30_000} of 6,000,000 bytes in ten seconds`);
  assert.ok(sim.durationMs <= 66_000, `${sim.durationMs} ms, of which 60,000 for the bytes`);
});

test('two thousand hosts of skewed sizes end when the longest of them does', async () => {
  const sizes = Array.from({length: 2000}, (_, index) => Math.max(1, Math.round(60 / (1 + index / 40))));
  const took = (index: number) => 20 + ((index * 37) % 60);
  const sim = await simulate({
    list: sizes.flatMap((size, index) => urls(`h${index}.t${index}`, size)),
    web: (url) =>
      url.endsWith('robots.txt')
        ? {status: 404, tookMs: 20}
        : {...ok, tookMs: took(Number(/t(\d+)\//.exec(url)![1]))},
    config: configOf({'politeness.latency_factor': '0', 'fetch.max_active': '2000'}),
    addresses: (url) => [new URL(url).hostname],
  });
  const floor = Math.max(...sizes.map((size, index) => 20 + size * (1000 + took(index))));
  assert.ok(sim.durationMs <= floor * 1.03, `${sim.durationMs} of ${floor}`);
  assert.equal(
    sim.rows.filter(({status, kind}) => kind === 'page' && status === 'success').length,
    sizes.reduce((a, b) => a + b),
  );
});

test('three thousand hanging hosts do not slow a healthy one', async () => {
  const hanging = Array.from({length: 3000}, (_, index) => `http://h${index}.t${index}/`);
  const sim = await simulate({
    list: [...hanging, ...urls('healthy.test', 20)],
    web: (url) =>
      url.includes('healthy') ? (url.endsWith('txt') ? undefined : ok) : {reason: 'timeout', tookMs: 60_000},
    config: configOf({'fetch.max_active': '4000'}),
    addresses: (url) => [new URL(url).hostname],
  });
  const own = sim.of('healthy.test');
  assert.equal(own.length, 21);
  assert.deepEqual([...new Set(gaps(own))], [1000]);
});

test('while three thousand connections are opened, each taking its time, healthy hosts are not late', async () => {
  const clock = new VirtualClock();
  const hanging = Array.from({length: 3000}, (_, index) => `http://h${index}.t${index}/`);
  const healthy = Array.from({length: 20}, (_, index) => `healthy${index}.test`);
  const sim = await simulate({
    clock,
    list: [...healthy.flatMap((host) => urls(host, 8)), ...hanging],
    web: (url) =>
      url.includes('healthy') ? (url.endsWith('txt') ? undefined : ok) : {reason: 'timeout', tookMs: 60_000},
    config: configOf({'fetch.max_active': '4000'}),
    addresses: (url) => [new URL(url).hostname],
    onRequest: (url) => {
      if (!url.includes('healthy')) clock.time += 2;
    },
  });
  const late = healthy.flatMap((host) => gaps(sim.of(host)).map((gap) => gap - 1000));
  assert.equal(late.length, 20 * 8);
  assert.ok(Math.min(...late) >= 0);
  assert.ok(Math.max(...late) <= 200, `late by ${Math.max(...late)} ms`);
});

test('three thousand hosts whose name servers hang do not hold up those that are asked already', async () => {
  const clock = new VirtualClock();
  const dead = Array.from({length: 3000}, (_, index) => `http://h${index}.t${index}/`);
  const healthy = Array.from({length: 20}, (_, index) => `healthy${index}.test`);
  const sim = await simulate({
    clock,
    list: [...healthy.flatMap((host) => urls(host, 8)), ...dead],
    web: (url) =>
      url.includes('healthy') ? (url.endsWith('txt') ? undefined : ok) : {reason: 'dns', tookMs: 10},
    config: configOf({'fetch.outage_hosts': '100000'}),
    lookUp: async (url) => {
      if (url.includes('healthy')) return [new URL(url).hostname];
      await clock.sleep(10_000);
      return [];
    },
  });
  const late = healthy.flatMap((host) => gaps(sim.of(host)).map((gap) => gap - 1000));
  assert.equal(late.length, 20 * 8);
  assert.ok(Math.min(...late) >= 0);
  assert.ok(Math.max(...late) <= 200, `late by ${Math.max(...late)} ms`);
});
