import assert from 'node:assert/strict';
import test from 'node:test';
import {progressLine} from '../../cli/progress.ts';
import type {Progress} from '../../lib/effects.ts';
import {configOf, type SimAnswer, type SimWeb, simulate, VirtualClock} from '../support/fetch-sim.ts';

const urls = (host: string, count: number) =>
  Array.from({length: count}, (_, index) => `http://${host}/${index}`);
const pages =
  (answer: SimAnswer): SimWeb =>
  (url) =>
    url.endsWith('robots.txt') ? undefined : answer;

test('hosts that are due soon are looked up before their turn, so that no place waits for name servers', async () => {
  const clock = new VirtualClock();
  const list = Array.from({length: 40}, (_, index) => `http://h${index}.t${index}/`);
  const lookups: number[] = [];
  const sim = await simulate({
    clock,
    list,
    web: pages({status: 200, body: ''}),
    config: configOf({'fetch.max_active': '20'}),
    lookUp: async (url) => {
      lookups.push(clock.time);
      await clock.sleep(400);
      return [new URL(url).hostname];
    },
  });
  const begin = Math.min(...lookups);
  assert.equal(lookups.length, list.length, 'once a host');
  assert.ok(Math.max(...lookups) <= begin + 500, 'the second twenty as soon as the first are known');
  assert.ok(sim.durationMs < 2 * 400 + 1000 + 300, `${sim.durationMs} ms`);
});

test('a host whose connection will be gone is looked up again before its turn, not at it', async () => {
  const clock = new VirtualClock();
  const lookups: number[] = [];
  const sim = await simulate({
    clock,
    list: urls('slow.test', 4),
    web: (url) =>
      url.endsWith('robots.txt')
        ? {status: 200, body: 'User-agent: *\nCrawl-delay: 120'}
        : {status: 200, body: ''},
    lookUp: async () => {
      lookups.push(clock.time);
      return ['192.0.2.1'];
    },
  });
  const turns = sim.of('slow.test').slice(1);
  assert.equal(turns.length, 4);
  for (const {start} of turns)
    assert.ok(
      lookups.some((time) => time <= start && time >= start - 2500),
      `before ${start}`,
    );
  assert.equal(lookups.length, 5);
});

test('progress names active, ready, waiting and resting hosts, the slowest, the time left, and why nothing is sent', async () => {
  const points: Progress[] = [];
  const sim = await simulate({
    list: [...urls('busy.test', 30), ...urls('down.test', 3), ...urls('small.test', 2)],
    web: (url) => {
      if (url.endsWith('robots.txt')) return undefined;
      return url.includes('down')
        ? {status: 503, headers: [['retry-after', '60']]}
        : {status: 200, body: 'x'};
    },
    config: configOf({'politeness.backoff': '1m'}),
    settings: {progress: (point) => points.push(point)},
  });
  assert.equal(sim.end.stopped, null);
  const resting = points.find(({facts}) => Number(facts?.resting) === 1);
  assert.ok(resting, 'down.test rests');
  assert.match(String(resting.facts?.slowest), /^(busy|down)\.test \(\d+\)$/);
  assert.ok(resting.leftMs! > 10_000);
  const alone = points.find(({facts}) => /^down\.test, in \d+ s$/.test(String(facts?.waiting_for)));
  assert.ok(alone, 'only down.test is left, and its rest is what is waited for');
  assert.deepEqual(
    {...points.at(-1), facts: Object.keys(points.at(-1)!.facts!)},
    {done: 35, total: 35, unit: 'pages', facts: ['bytes']},
  );
  const line = progressLine('fetch', alone, 60_000);
  assert.match(line, /^fetch {2}3\d of 35 pages · .* left · .* · 0 active · 0 ready · 0 waiting · 1 resting/);
  assert.match(line, /waiting for down\.test, in \d+ s/);
});

test('closed hours are what is waited for', async () => {
  const clock = new VirtualClock();
  clock.time = Date.parse('2027-03-01T12:00:00Z');
  const points: Progress[] = [];
  await simulate({
    clock,
    list: urls('a.test', 2),
    web: pages({status: 200, body: ''}),
    config: configOf({'fetch.hours': '13:00-14:00'}),
    settings: {progress: (point) => points.push(point)},
  });
  assert.equal(points[0]!.facts?.waiting_for, 'fetch.hours, from 13:00 UTC on');
});

test('hostile hosts beside healthy ones change neither the order nor the times of their requests', async () => {
  const healthy = Array.from({length: 30}, (_, index) => urls(`ok${index}.h${index}`, 6)).flat();
  const hostile: Readonly<Record<string, SimAnswer>> = {
    silent: {reason: 'timeout', tookMs: 60_000},
    reset: {reason: 'reset', tookMs: 5},
    refused: {reason: 'connect', tookMs: 1},
    nameless: {reason: 'dns', tookMs: 2000},
    noise: {reason: 'http_malformed', tookMs: 10},
    headers: {reason: 'header_limit', tookMs: 3000},
    busy: {status: 503, tookMs: 10},
    loop: {status: 302, headers: [['location', '/0']], tookMs: 5},
    drip: {status: 200, body: 'x', truncated: 'time', reason: 'timeout', tookMs: 60_000},
  };
  const kinds = Object.keys(hostile);
  const bad = kinds.flatMap((kind, k) =>
    Array.from({length: 12}, (_, index) => urls(`${kind}${index}.x${k}y${index}`, 4)).flat(),
  );
  const web: SimWeb = (url) => {
    const host = new URL(url).hostname;
    const kind = /^[a-z]+/.exec(host)![0];
    if (url.endsWith('robots.txt') && !/[02468]\./.test(host)) return undefined;
    if (kind === 'ok') return url.endsWith('robots.txt') ? undefined : {status: 200, body: 'x', tookMs: 40};
    return hostile[kind];
  };
  const config = configOf({'fetch.outage_hosts': '1000'});
  const addresses = (url: string) => [new URL(url).hostname];
  const mixed = bad.flatMap((url, index) => [url, ...(healthy[index] === undefined ? [] : [healthy[index]])]);
  const rest = healthy.slice(bad.length);
  const alone = await simulate({list: healthy, web, config, addresses});
  const beside = await simulate({list: [...mixed, ...rest], web, config, addresses});
  const own = (sim: typeof alone) => sim.requests.filter(({url}) => url.includes('://ok'));
  const times = new Map(own(alone).map(({url, start}) => [url, start]));
  assert.deepEqual(
    own(beside).map(({url}) => url),
    own(alone).map(({url}) => url),
  );
  for (const {url, start} of own(beside))
    assert.ok(Math.abs(start - times.get(url)!) <= 200, `${url}: ${start - times.get(url)!} ms later`);
});
