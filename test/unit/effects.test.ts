import assert from 'node:assert/strict';
import {getEventListeners} from 'node:events';
import test from 'node:test';
import {realEffects} from '../../jobs/effects.ts';

test('a sleep ends by time, or by either signal with its reason, and leaves nothing with them', async () => {
  const stop = new AbortController();
  const {sleep} = realEffects(() => undefined, stop.signal);
  const own = new AbortController();
  await sleep(1);
  await sleep(1, own.signal);
  const given = sleep(1e9, own.signal);
  own.abort(new Error('own'));
  await assert.rejects(given, /own/);
  await assert.rejects(sleep(1, own.signal), /own/);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  const many = Array.from({length: 50}, () => sleep(1e9, new AbortController().signal));
  stop.abort(new Error('stopped'));
  for (const one of many) await assert.rejects(one, /stopped/);
  await assert.rejects(sleep(1), /stopped/);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  assert.equal(getEventListeners(own.signal, 'abort').length, 0);
});
