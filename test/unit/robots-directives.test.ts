import assert from 'node:assert/strict';
import {test} from 'node:test';
import {isExpired, linkDirectives, maxDirectives, pageDirectives} from '../../lib/robots/directives.ts';

const page = (sources: {meta?: {name: string; content: string}[]; headers?: string[]}) =>
  pageDirectives({meta: [], headers: [], productToken: 'Kestrel', ...sources});
const effect = (sources: Parameters<typeof page>[0]) =>
  Object.entries(page(sources))
    .filter(([, value]) => value === true)
    .map(([name]) => name)
    .join(' ');

test('headers: who a directive is for, and which', () => {
  const cases: Record<string, string> = {
    none: 'noindex nofollow',
    'NoIndex , nofollow': 'noindex nofollow',
    all: '',
    '': '',
    ',noindex,': 'noindex',
    'noindex;nofollow': 'noindex nofollow',
    'kestrel: noindex': 'noindex',
    'KESTREL:noindex, noarchive': 'noindex noarchive',
    'otherbot: noindex, nofollow': '',
    'otherbot: noindex, kestrel: nofollow': 'nofollow',
    'kestrel: noarchive, otherbot: noindex': 'noarchive',
    'noindex, otherbot: nofollow': 'noindex',
    'max-snippet:20, noindex': 'noindex',
    'max-image-preview: large': '',
    nocache: 'noarchive',
    'nosnippet, noimageindex, notranslate': 'nosnippet noimageindex notranslate',
    'noindexed, xnoindex': '',
  };
  for (const [header, expected] of Object.entries(cases))
    assert.equal(effect({headers: [header]}), expected, header);
});

test('several headers hold together, each with its own agent', () => {
  assert.equal(effect({headers: ['otherbot: noindex', 'nofollow']}), 'nofollow');
  assert.equal(effect({headers: ['kestrel: noindex', 'noarchive']}), 'noindex noarchive');
});

test('meta elements: robots and our own name', () => {
  const meta = (name: string, content = 'noindex') => effect({meta: [{name, content}]});
  assert.equal(meta('robots'), 'noindex');
  assert.equal(meta('ROBOTS', 'NONE'), 'noindex nofollow');
  assert.equal(meta('kestrel'), 'noindex');
  assert.equal(meta(' robots '), 'noindex');
  assert.equal(meta('googlebot'), '');
  assert.equal(meta('description'), '');
});

test('nothing takes a directive back', () => {
  const meta = [
    {name: 'robots', content: 'noindex'},
    {name: 'kestrel', content: 'index, follow, all'},
  ];
  assert.equal(effect({meta, headers: ['all']}), 'noindex');
});

test('all directives are kept with their source', () => {
  const {all} = page({
    meta: [{name: 'robots', content: 'Index, max-snippet: 5'}],
    headers: ['noai, x: noindex'],
  });
  assert.deepEqual(all, [
    {directive: 'index', source: 'meta'},
    {directive: 'max-snippet: 5', source: 'meta'},
    {directive: 'noai', source: 'header'},
  ]);
});

test('unavailable_after: in each date form, the earliest counts', () => {
  const time = (header: string) => page({headers: [header]}).unavailableAfter?.toISOString() ?? null;
  assert.equal(time('unavailable_after: 25 Jun 2010 15:00:00 PST'), '2010-06-25T23:00:00.000Z');
  assert.equal(
    time('unavailable_after: Friday, 25-Jun-2010 15:00:00 GMT, noarchive'),
    '2010-06-25T15:00:00.000Z',
  );
  assert.equal(time('unavailable_after: 2099-09-21'), '2099-09-21T00:00:00.000Z');
  assert.equal(time('unavailable_after: 2099-09-21T10:00:00+02:00'), '2099-09-21T08:00:00.000Z');
  assert.equal(time('unavailable_after: soon'), null);
  assert.equal(
    time('unavailable_after: 2099-01-01, unavailable_after: 2050-01-01'),
    '2050-01-01T00:00:00.000Z',
  );
  assert.equal(
    page({headers: ['unavailable_after: Friday, 25-Jun-2010 15:00:00 GMT, noarchive']}).noarchive,
    true,
  );
});

test('expired from its time on', () => {
  const directives = page({headers: ['unavailable_after: 2026-01-01']});
  assert.equal(isExpired(directives, Date.UTC(2025, 11, 31)), false);
  assert.equal(isExpired(directives, Date.UTC(2026, 0, 1)), true);
  assert.equal(isExpired(page({}), Date.UTC(2026, 0, 1)), false);
});

test('a page cannot have directives without end', () => {
  const content = 'x,'.repeat(100_000);
  assert.equal(page({meta: [{name: 'robots', content}]}).all.length, maxDirectives);
});

test('rel of links', () => {
  assert.deepEqual(linkDirectives('NoFollow noopener'), {nofollow: true, ugc: false, sponsored: false});
  assert.deepEqual(linkDirectives('ugc\tsponsored'), {nofollow: false, ugc: true, sponsored: true});
  assert.deepEqual(linkDirectives('nofollowx'), {nofollow: false, ugc: false, sponsored: false});
});
