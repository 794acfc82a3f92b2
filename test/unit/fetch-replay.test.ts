import assert from 'node:assert/strict';
import test from 'node:test';
import {toHostState} from '../../lib/fetcher/delay.ts';
import type {FetchHost} from '../../lib/fetcher/hosts.ts';
import {Replay} from '../../lib/fetcher/replay.ts';
import {configOf, type SimAnswer, simulate} from '../support/fetch-sim.ts';

const state = (host: FetchHost) =>
  toHostState(host.politeness, {
    hostKey: host.hostKey,
    hostName: host.name,
    segment: '20270101000000',
    soft404: null,
  });

const answers: Readonly<Record<string, SimAnswer>> = {
  'a 503 that took whole milliseconds': {status: 503, tookMs: 250},
  'a 503 that took a fraction of a millisecond more': {status: 503, tookMs: 250.4},
  'a 503 that took a fraction of a millisecond less': {status: 503, tookMs: 250.6},
  'a connection that failed, of which nobody knows how long it took': {reason: 'connect'},
};

for (const [name, answer] of Object.entries(answers))
  test(`answers of another segment's journal that the stored state of a host counts are not counted again: ${name}`, async () => {
    const config = configOf();
    const list = ['http://a.test/0'];
    const first = await simulate({
      list,
      config,
      web: (url) => (url.endsWith('robots.txt') ? undefined : answer),
    });
    const asked = first.rows.filter(({delay_ms}) => delay_ms !== null);
    assert.equal(asked.length, 2);
    // A second fetch reads the first one's journal, and stores what it says of the host.
    let stored: ReturnType<typeof state> | undefined;
    await simulate({
      list,
      config,
      web: () => undefined,
      prepare: ({work}, clock) => {
        clock.time += 3_600_000;
        const replay = new Replay(work, config);
        for (const row of asked) replay.takePoliteness(row, clock.time);
        stored = state(work.hosts.find('a.test')!);
        assert.equal(stored.failures, 1);
      },
    });
    // A third one, later, reads both.
    await simulate({
      list,
      config,
      web: () => undefined,
      prepare: ({work}, clock) => {
        clock.time += 7_200_000;
        const host = work.hosts.find('a.test')!;
        work.hosts.restore(stored!, clock.time);
        const replay = new Replay(work, config);
        for (const row of asked) replay.takePoliteness(row, clock.time);
        assert.deepEqual(state(host), stored);
      },
    });
  });

test('an answer after the stored state of a host is counted', async () => {
  const config = configOf();
  const list = ['http://a.test/0'];
  const failed = await simulate({
    list,
    config,
    web: (url) => (url.endsWith('robots.txt') ? undefined : {status: 503}),
  });
  await simulate({
    list,
    config,
    web: () => undefined,
    prepare: ({work}, clock) => {
      clock.time += 3_600_000;
      const host = work.hosts.find('a.test')!;
      const robots = failed.rows.find(({kind}) => kind === 'robots')!;
      const ended = robots.fetch_time.getTime() + robots.total_ms!;
      work.hosts.restore({...state(host), last_response_time: new Date(ended), requests: 1}, clock.time);
      const replay = new Replay(work, config);
      for (const row of failed.rows) replay.takePoliteness(row, clock.time);
      assert.equal(host.politeness.failures, 1);
      assert.equal(host.politeness.requests, 2);
    },
  });
});
