import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {FetchQueues, type HostQueue} from '../../lib/fetcher/queues.ts';

interface Running {
  readonly host: HostQueue;
  readonly item: number;
  readonly ends: number;
}

interface Web {
  readonly hosts: readonly {
    items: number;
    delay: number;
    took: number;
    domain: number;
    address: number;
    most: number;
  }[];
  readonly limits: {maxActive: number; maxPerHost: number; maxPerAddress: number; maxPerDomain: number};
  readonly disturb: readonly number[];
}

const web: fc.Arbitrary<Web> = fc.record({
  hosts: fc.array(
    fc.record({
      items: fc.nat(12),
      delay: fc.nat(50),
      took: fc.integer({min: 1, max: 40}),
      domain: fc.nat(3),
      address: fc.nat(3),
      most: fc.integer({min: 1, max: 2}),
    }),
    {minLength: 1, maxLength: 12},
  ),
  limits: fc.record({
    maxActive: fc.integer({min: 1, max: 6}),
    maxPerHost: fc.constant(1),
    maxPerAddress: fc.integer({min: 1, max: 3}),
    maxPerDomain: fc.integer({min: 1, max: 3}),
  }),
  disturb: fc.array(fc.nat(3), {maxLength: 40}),
});

/** Runs a web to its end on a clock of its own, checking every rule at every request. */
function simulate({hosts, limits, disturb}: Web): {asked: number[]; end: number; order: number[]} {
  const queues = new FetchQueues(limits);
  const facts = new Map<
    HostQueue,
    (typeof hosts)[number] & {lastEnd: number; addressName: string; domainName: string}
  >();
  let item = 0;
  const total = hosts.reduce((sum, host) => sum + host.items, 0);
  for (const [index, host] of hosts.entries()) {
    const queue = queues.host(`h${index}`, `d${host.domain}`);
    queues.setAddress(queue, `a${host.address}`);
    queues.setMaxActive(queue, host.most);
    queue.spacingMs = host.delay;
    facts.set(queue, {
      ...host,
      lastEnd: Number.NEGATIVE_INFINITY,
      addressName: `a${host.address}`,
      domainName: `d${host.domain}`,
    });
    for (let i = 0; i < host.items; i++) queues.push(queue, item++);
  }
  let now = 0;
  let running: Running[] = [];
  const asked: number[] = [];
  const order: number[] = [];
  let held: HostQueue | undefined;
  for (let step = 0; ; step++) {
    assert.ok(step < 50 * (total + 10), 'the simulation ends');
    const turn = queues.next(now);
    if (turn.kind === 'done') break;
    if (turn.kind === 'ready') {
      const {host} = turn;
      const fact = facts.get(host)!;
      const disturbance = disturb[step] ?? 9;
      if (disturbance === 0) {
        asked.push(queues.drop(host)!); // ended without a request, as by robots.txt
        continue;
      }
      if (disturbance === 1 && !held) {
        held = host;
        queues.hold(host, 'address');
        continue;
      }
      if (disturbance === 2) {
        const first = queues.drop(host)!;
        queues.pushFirst(host, first);
      }
      assert.ok(fact.most > 1 || now >= fact.lastEnd + fact.delay, 'not within the delay');
      const of = (name: 'addressName' | 'domainName') =>
        running.filter((other) => facts.get(other.host)![name] === fact[name]).length;
      assert.ok(running.length < limits.maxActive);
      assert.ok(running.filter((other) => other.host === host).length < fact.most);
      assert.ok(of('addressName') < limits.maxPerAddress);
      assert.ok(of('domainName') < limits.maxPerDomain);
      const taken = queues.take(host, now);
      asked.push(taken);
      order.push(taken);
      running.push({host, item: taken, ends: now + fact.took});
      continue;
    }
    if (held && (running.length === 0 || step % 3 === 0)) {
      queues.release(held, 'address');
      held = undefined;
      continue;
    }
    const nextEnd = Math.min(...running.map((one) => one.ends));
    const until = turn.kind === 'wait' ? turn.until : Number.POSITIVE_INFINITY;
    assert.ok(Number.isFinite(Math.min(nextEnd, until)), 'there is something to wait for');
    now = Math.min(nextEnd, until);
    const ended = running.filter((one) => one.ends <= now);
    running = running.filter((one) => one.ends > now);
    for (const {host} of ended) {
      const fact = facts.get(host)!;
      fact.lastEnd = now;
      queues.finished(host, now + fact.delay);
    }
  }
  assert.equal(queues.waiting, 0);
  assert.equal(queues.active, 0);
  return {asked, end: now, order};
}

test('every item has exactly one turn, within all limits, and no host is asked within its delay', () => {
  fc.assert(
    fc.property(web, (input) => {
      const {asked} = simulate(input);
      const total = input.hosts.reduce((sum, host) => sum + host.items, 0);
      assert.deepEqual(
        [...asked].sort((a, b) => a - b),
        Array.from({length: total}, (_, i) => i),
      );
    }),
    {numRuns: 500},
  );
});

test('nobody starves: with enough places the end is the longest host’s own time', () => {
  fc.assert(
    fc.property(web, (input) => {
      const free: Web = {
        hosts: input.hosts.map((host) => ({...host, most: 1})),
        limits: {maxActive: 100, maxPerHost: 1, maxPerAddress: 100, maxPerDomain: 100},
        disturb: [],
      };
      const floor = Math.max(
        0,
        ...free.hosts.map((host) =>
          host.items === 0 ? 0 : host.items * (host.took + host.delay) - host.delay,
        ),
      );
      assert.equal(simulate(free).end, floor);
    }),
  );
});

test('nobody starves: with one place in all, hosts take turns in order of their time', () => {
  const host = {items: 3, delay: 0, took: 10, domain: 0, address: 0, most: 1};
  const {order} = simulate({
    hosts: [host, host, host],
    limits: {maxActive: 1, maxPerHost: 1, maxPerAddress: 1, maxPerDomain: 1},
    disturb: [],
  });
  assert.deepEqual(order, [0, 3, 6, 1, 4, 7, 2, 5, 8]);
});

test('a host’s items keep their order; one put first goes first', () => {
  const queues = new FetchQueues({maxActive: 9, maxPerHost: 1, maxPerAddress: 9, maxPerDomain: 9});
  const host = queues.host('a', 'a');
  for (const item of [5, 3_000_000, 7]) queues.push(host, item);
  queues.pushFirst(host, 1);
  const order: number[] = [];
  for (let item = queues.drop(host); item !== undefined; item = queues.drop(host)) order.push(item);
  assert.deepEqual(order, [1, 5, 3_000_000, 7]);
});
