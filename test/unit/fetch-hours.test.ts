import assert from 'node:assert/strict';
import test from 'node:test';
import {openFrom, parseHours} from '../../lib/fetcher/hours.ts';
import {configOf, simulate, VirtualClock} from '../support/fetch-sim.ts';

const at = (text: string) => Date.parse(`2027-03-01T${text}Z`);

test('hours of the day, over midnight too', () => {
  const cases: [string, string, string][] = [
    ['08:00-18:00', '07:59:30', '08:00:00'],
    ['08:00-18:00', '08:00:00', '08:00:00'],
    ['08:00-18:00', '17:59:59', '17:59:59'],
    ['22:00-06:00', '23:00:00', '23:00:00'],
    ['22:00-06:00', '05:59:59', '05:59:59'],
    ['22:00-06:00', '06:00:00', '22:00:00'],
    ['00:00-24:00', '12:00:00', '12:00:00'],
  ];
  for (const [hours, now, expected] of cases)
    assert.equal(openFrom(parseHours(hours), at(now)), at(expected), `${hours} ${now}`);
  assert.equal(openFrom(parseHours('08:00-18:00'), at('18:00:00')), at('08:00:00') + 86_400_000);
  assert.equal(openFrom(parseHours(undefined), 7), 7);
});

test('what is no span of hours is refused', () => {
  for (const text of ['', '8-18', '25:00-26:00', '08:00-08:00', '08:00-24:30', 'night'])
    assert.throws(() => parseHours(text), {code: 'CONFIG_INVALID'}, text);
});

test('a fetch sends nothing outside its hours, and goes on when they begin', async () => {
  const clock = new VirtualClock();
  clock.time = at('17:59:50');
  const list = Array.from({length: 30}, (_, index) => `http://a.test/${index}`);
  const config = configOf({'fetch.hours': '08:00-18:00'});
  const sim = await simulate({clock, list, config, web: () => ({status: 200, body: ''})});
  assert.equal(sim.requests.length, 31);
  const early = sim.requests.filter(({start}) => start < at('18:00:00'));
  assert.ok(early.length >= 9 && early.length <= 10);
  assert.equal(sim.requests[early.length]!.start, at('08:00:00') + 86_400_000);
});
