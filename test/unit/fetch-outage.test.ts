/** Dead hosts in numbers, and our own network: neither is to be taken for the other. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {configOf, type SimAnswer, simulate, VirtualClock} from '../support/fetch-sim.ts';

const minute = 60_000;
const page: SimAnswer = {status: 200, body: 'a page'};
const hosts = (name: string, count: number, pages = 1) =>
  Array.from({length: count}, (_, host) =>
    Array.from({length: pages}, (_, path) => `http://${name}${host}.${name}${host}/${path}`),
  ).flat();

/** Hosts named dead fail in this way, all others have pages. */
const web = (failure: SimAnswer) => (url: string) =>
  url.includes('//dead') ? failure : url.endsWith('robots.txt') ? undefined : page;

function counted(outcomes: Readonly<Record<string, string>>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [url, outcome] of Object.entries(outcomes)) {
    const key = `${url.slice(7, 11)}: ${outcome}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

for (const reason of ['dns', 'connect', 'connect_timeout'] as const) {
  test(`${reason}: three hundred dead hosts before a few living ones are charged, and the living ones are fetched`, async () => {
    const sim = await simulate({
      list: [...hosts('dead', 300), ...hosts('live', 5, 20)],
      web: web({reason, tookMs: 5}),
    });
    assert.deepEqual(counted(sim.outcomes()), {
      [`dead: retry ${reason} -`]: 300,
      'live: success - 200': 100,
    });
    assert.ok(sim.durationMs < 15 * minute, `${sim.durationMs}`);
  });

  test(`${reason}: dead hosts that are left at the end, when the living ones are done, are charged`, async () => {
    const sim = await simulate({
      list: [...hosts('live', 5, 2), ...hosts('dead', 30)],
      web: web({reason, tookMs: 20_000}),
    });
    assert.deepEqual(counted(sim.outcomes()), {[`dead: retry ${reason} -`]: 30, 'live: success - 200': 10});
    assert.ok(sim.durationMs < 5 * minute, `${sim.durationMs}`);
  });
}

test('two outages, one after the other, charge nobody', async () => {
  const clock = new VirtualClock();
  const begin = clock.time;
  const down = (time: number) =>
    [1, 8].some((from) => time >= begin + from * minute && time < begin + (from + 3) * minute);
  const sim = await simulate({
    clock,
    list: hosts('live', 40, 60),
    config: configOf({'politeness.min_delay': '10s'}),
    web: (url, _times, start) =>
      down(start) ? {reason: 'dns', tookMs: 50} : url.endsWith('robots.txt') ? undefined : page,
  });
  assert.deepEqual(counted(sim.outcomes()), {'live: success - 200': 2400});
  for (const host of sim.fetcher.work.hosts) assert.equal(host.politeness.failures, 0);
});
