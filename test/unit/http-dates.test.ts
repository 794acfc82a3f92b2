import assert from 'node:assert/strict';
import {test} from 'node:test';
import {parseAnyDate, parseHttpDate, parseIsoDate} from '../../lib/http/http-date.ts';
import {parseRetryAfter} from '../../lib/http/retry-after.ts';

const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());

test('ISO dates from the year to the fraction of a second', () => {
  const cases: Record<string, string | null> = {
    '2004': '2004-01-01T00:00:00.000Z',
    '2004-12': '2004-12-01T00:00:00.000Z',
    '2004-12-23': '2004-12-23T00:00:00.000Z',
    '20041223': '2004-12-23T00:00:00.000Z',
    '2004-12-23T18:00Z': '2004-12-23T18:00:00.000Z',
    '2004-12-23T18:00:15+00:00': '2004-12-23T18:00:15.000Z',
    '2005-01-01T00:00:00.1234567-05:30': '2005-01-01T05:30:00.123Z',
    '2004-12-23 18:00:15': '2004-12-23T18:00:15.000Z',
    '2004-12-23t18:00:15z': '2004-12-23T18:00:15.000Z',
    '2004-02-29': '2004-02-29T00:00:00.000Z',
    '2003-02-29': null,
    '2004-13-01': null,
    '2004-12-32': null,
    '2004-12-23T25:00': null,
    '2004-12-23T24:00': '2004-12-24T00:00:00.000Z',
    '0001-01-01': '0001-01-01T00:00:00.000Z',
    '2004-12-23T18:00:15+99:99': null,
    yesterday: null,
    '': null,
  };
  for (const [value, expected] of Object.entries(cases))
    assert.equal(iso(parseIsoDate(value)), expected, value);
});

test('mail and HTTP dates with their usual deviations', () => {
  const cases: Record<string, string | null> = {
    'Sat, 07 Sep 2002 00:00:01 GMT': '2002-09-07T00:00:01.000Z',
    'Sat, 7 September 2002 00:00:01 EST': '2002-09-07T05:00:01.000Z',
    '7 Sep 2002 00:00 +0200': '2002-09-06T22:00:00.000Z',
    'Sunday, 06-Nov-94 08:49:37 GMT': '1994-11-06T08:49:37.000Z',
    'Sat, 07 Sep 2002': '2002-09-07T00:00:00.000Z',
    'Sat, 07 Sep 2002 00:00:01 XYZ': null,
    'Sat, 30 Feb 2002 00:00:01 GMT': null,
    'Sat, 07 Sep 2002 00:00:61 GMT': null,
  };
  for (const [value, expected] of Object.entries(cases))
    assert.equal(iso(parseHttpDate(value)), expected, value);
});

test('either form', () => {
  assert.equal(parseAnyDate('2004-12-23'), parseAnyDate('Thu, 23 Dec 2004 00:00:00 GMT'));
  assert.equal(parseAnyDate('no date'), null);
});

test('long values and deep repetitions are no dates, and take no time', () => {
  for (const unit of [' ', '1', 'a ', '1 jan ', '-', '2004-'])
    assert.equal(parseAnyDate(unit.repeat(100_000)), null);
  assert.equal(parseAnyDate('Sun, ' + ' '.repeat(190) + 'x'), null);
});

test('Retry-After in ms: seconds, a date, capped at a year', () => {
  const now = Date.UTC(2026, 0, 1);
  assert.equal(parseRetryAfter(' 30 ', now), 30_000);
  assert.equal(parseRetryAfter('0', now), 0);
  assert.equal(parseRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now), 60_000);
  assert.equal(parseRetryAfter('Wed, 31 Dec 2025 00:01:00 GMT', now), 0);
  assert.equal(parseRetryAfter('9'.repeat(40), now), 365 * 86_400_000);
  assert.equal(parseRetryAfter('Fri, 01 Jan 9999 00:00:00 GMT', now), 365 * 86_400_000);
  for (const value of ['-1', '1.5', '1e3', '+10', 'soon', '', '30 s'])
    assert.equal(parseRetryAfter(value, now), null, value);
});
