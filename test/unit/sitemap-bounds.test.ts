import assert from 'node:assert/strict';
import {test} from 'node:test';
import {listing, mayList} from '../../lib/sitemap/host-rule.ts';
import {admit, sitemapWalk} from '../../lib/sitemap/walk.ts';

test('a sitemap lists URLs of its own host, or of hosts whose robots.txt names it', () => {
  const sitemap = 'https://example.com/dir/sitemap.xml';
  const cases: [loc: string, lenient: string, strict: string][] = [
    ['https://example.com/dir/a', 'host', 'host'],
    ['https://example.com/a', 'host', 'path'],
    ['http://example.com/dir/a', 'host', 'other_host'],
    ['https://example.com:8443/dir/a', 'other_host', 'other_host'],
    ['https://www.example.com/dir/a', 'other_host', 'other_host'],
    ['https://named.example/x', 'named', 'named'],
    ['https://example.com.evil.example/', 'other_host', 'other_host'],
  ];
  const namedBy = new Set(['https://named.example']);
  for (const [loc, lenient, strict] of cases) {
    assert.equal(listing(sitemap, loc, {namedBy}), lenient, loc);
    assert.equal(listing(sitemap, loc, {namedBy, strict: true}), strict, loc);
  }
  assert.deepEqual((['host', 'named', 'path', 'other_host'] as const).map(mayList), [
    true,
    true,
    false,
    false,
  ]);
});

test('each sitemap once, not too deep, not too many', () => {
  const walk = sitemapWalk({maxDepth: 1, maxSitemaps: 3});
  assert.equal(admit(walk, 'https://example.com/a', 0), 'admitted');
  assert.equal(admit(walk, 'https://example.com/a', 1), 'seen', 'an index that names itself');
  assert.equal(admit(walk, 'https://example.com/b', 1), 'admitted');
  assert.equal(admit(walk, 'https://example.com/c', 2), 'too_deep');
  assert.equal(admit(walk, 'https://example.com/d', 1), 'admitted');
  assert.equal(admit(walk, 'https://example.com/e', 1), 'too_many');
});
