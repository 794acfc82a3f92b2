import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {Heap} from '../../lib/fetcher/heap.ts';
import {KeyMap} from '../../lib/fetcher/key-map.ts';
import {OutageWatch} from '../../lib/fetcher/outage.ts';
import {Worklist} from '../../lib/fetcher/worklist.ts';
import {listRow} from '../support/fetch-sim.ts';

test('KeyMap is a Map of 64-bit keys, neighbours and the largest included', () => {
  const key = fc.oneof(fc.bigInt({min: 0n, max: 2n ** 64n - 1n}), fc.bigInt({min: 0n, max: 40n}));
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat(1e9)), {maxLength: 3000}), fc.array(key), (entries, others) => {
      const map = new KeyMap();
      const plain = new Map(entries);
      for (const [k, value] of entries) map.set(k, value);
      assert.equal(map.size, plain.size);
      for (const k of [...plain.keys(), ...others]) assert.equal(map.get(k), plain.get(k));
    }),
    {numRuns: 50},
  );
});

test('a worklist gives back what was put in', () => {
  const path = fc.webPath({size: 'large'});
  const row = fc.record({
    url: path.map((text) => `http://a.test${text}`),
    depth: fc.nat(20),
    seed: fc.option(fc.constantFrom('http://a.test/', 'http://b.test/')),
    kind: fc.constantFrom('page' as const, 'sitemap' as const),
    etag: fc.option(fc.string()),
    content_digest: fc.option(fc.string()),
  });
  fc.assert(
    fc.property(fc.array(row, {maxLength: 2500}), (rows) => {
      const work = new Worklist();
      const given = rows.map((one, rank) => listRow(one, rank));
      for (const one of given) work.add(one);
      const hop = work.addExtra({
        kind: 'hop',
        url: 'http://a.test/hop',
        urlKey: 7n,
        hop: 1,
        originUrl: 'http://a.test/',
        depth: 0,
        seed: null,
        held: null,
        chain: ['x'],
        sitemap: false,
        robotsOrigin: null,
      });
      for (const [item, one] of given.entries()) {
        const got = work.get(item);
        const {url, depth, seed, kind, originUrl, urlKey, hop: hopNumber} = got;
        assert.deepEqual(
          {url, depth, seed, kind, originUrl, urlKey, hopNumber},
          {
            url: one.url,
            depth: one.depth,
            seed: one.seed,
            kind: one.kind,
            originUrl: one.url,
            urlKey: one.url_key,
            hopNumber: 0,
          },
        );
        assert.equal(got.held?.etag ?? null, one.etag);
        assert.equal(work.urlOf(work.find(one.url_key)!), one.url);
        assert.ok(work.markDone(item) && !work.markDone(item));
      }
      assert.equal(work.done, rows.length);
      assert.equal(work.find(7n), hop);
      assert.deepEqual([work.isListed(hop), work.get(hop).chain], [false, ['x']]);
      work.forget(hop);
      assert.equal(work.find(7n), hop, 'its key stays known');
    }),
    {numRuns: 20},
  );
});

test('a heap gives its entries in order, whatever is moved and taken out meanwhile', () => {
  const step = fc.tuple(fc.constantFrom('push', 'pop', 'move', 'remove'), fc.nat(50), fc.nat(1000));
  fc.assert(
    fc.property(fc.array(step, {maxLength: 200}), (steps) => {
      const heap = new Heap<{at: number; place: number}>((a, b) => a.at < b.at);
      const inside: {at: number; place: number}[] = [];
      for (const [what, which, at] of steps) {
        const entry = inside[which % Math.max(1, inside.length)];
        if (what === 'push') {
          const made = {at, place: -1};
          inside.push(made);
          heap.push(made);
        } else if (entry === undefined) continue;
        else if (what === 'move') {
          entry.at = at;
          heap.moved(entry);
        } else {
          const gone = what === 'pop' ? heap.first! : entry;
          heap.remove(gone);
          inside.splice(inside.indexOf(gone), 1);
          assert.equal(gone.place, -1);
        }
        assert.equal(heap.size, inside.length);
        if (inside.length > 0) assert.equal(heap.first!.at, Math.min(...inside.map((one) => one.at)));
      }
    }),
  );
});

test('an outage is many different hosts in a row, not one host many times', () => {
  const watch = new OutageWatch<string>(3);
  for (const host of ['a', 'a', 'a', 'b']) assert.equal(watch.failed(host, host, 0), false);
  assert.deepEqual(watch.settle(), {failures: ['a', 'a', 'a', 'b'], charged: true});
  assert.deepEqual(
    ['a', 'b', 'c'].map((host) => watch.failed(host, host, 5)),
    [false, false, true],
  );
  assert.equal(watch.since, 5);
  assert.deepEqual([watch.pauseMs(), watch.pauseMs(), watch.pauseMs()], [5000, 10_000, 20_000]);
  assert.equal(watch.takeOldest(), 'a');
  assert.deepEqual(watch.settle(), {failures: ['b', 'c'], charged: false});
  assert.equal(watch.since, null);
});
