import assert from 'node:assert/strict';
import {test} from 'node:test';
import {lookAfter, lookMs, type WatchedPiece, WorkWatch} from '../../jobs/runner/worker-watch.ts';

test('what one side writes the other reads, whatever its letters', () => {
  const thread = new WorkWatch();
  const executor = new WorkWatch(thread.memory);
  assert.equal(executor.piece, null);
  thread.set('página-✓', 1500);
  assert.deepEqual(executor.piece, {key: 'página-✓', limitMs: 1500});
  thread.set('p');
  assert.deepEqual(executor.piece, {key: 'p', limitMs: undefined});
  thread.set('');
  assert.deepEqual(executor.piece, {key: '', limitMs: undefined});
  thread.set(null);
  assert.equal(executor.piece, null);
});

test('a name of work that does not fit is refused, not cut', () => {
  assert.throws(() => new WorkWatch().set('x'.repeat(20_000)), {code: 'INTERNAL'});
});

test('a piece is late after its own time, counted in looks', (t) => {
  t.mock.timers.enable({apis: ['setInterval']});
  const watch = new WorkWatch();
  const late: WatchedPiece[] = [];
  lookAfter(watch, (piece) => late.push(piece));
  watch.set('first', 3 * lookMs);
  t.mock.timers.tick(3 * lookMs); // the first look sees that it has begun
  assert.deepEqual(late, []);
  watch.set('first', 3 * lookMs); // again: from the start
  t.mock.timers.tick(3 * lookMs);
  assert.deepEqual(late, []);
  t.mock.timers.tick(lookMs);
  assert.deepEqual(late, [{key: 'first', limitMs: 3 * lookMs}]);
});

test('neither nothing in hand, nor a piece without limit, is late', (t) => {
  t.mock.timers.enable({apis: ['setInterval']});
  const watch = new WorkWatch();
  const end = lookAfter(watch, () => assert.fail('late'));
  t.mock.timers.tick(100 * lookMs);
  watch.set('loading');
  t.mock.timers.tick(100 * lookMs);
  watch.set('page', lookMs);
  watch.set(null);
  t.mock.timers.tick(100 * lookMs);
  watch.set('page', lookMs);
  end();
  t.mock.timers.tick(100 * lookMs);
});

test('a limit of months is as good as none, not none at all', (t) => {
  t.mock.timers.enable({apis: ['setInterval']});
  const watch = new WorkWatch();
  const end = lookAfter(watch, () => assert.fail('late'));
  watch.set('page', 60 * 24 * 3600 * 1000);
  assert.ok((watch.piece?.limitMs ?? 0) > 20 * 24 * 3600 * 1000);
  t.mock.timers.tick(100 * lookMs);
  end();
});

test('a piece that is half written is nobody’s', (t) => {
  t.mock.timers.enable({apis: ['setInterval']});
  const watch = new WorkWatch();
  watch.set('page', lookMs);
  // As a thread that has lost its processor in `set`, between the key and its length.
  const key = Buffer.from(watch.memory).subarray(-16_384);
  const seen: (WatchedPiece | null)[] = [];
  const write = t.mock.method(Buffer.prototype, 'write', (text: string) => {
    key.set(Buffer.from(text));
    seen.push(new WorkWatch(watch.memory).piece);
    return text.length;
  });
  watch.set('another page', lookMs);
  write.mock.restore();
  assert.deepEqual(seen, [null]);
  assert.deepEqual(watch.piece, {key: 'another page', limitMs: lookMs});
});
