import assert from 'node:assert/strict';
import {test} from 'node:test';
import {listing, mayList} from '../../lib/sitemap/host-rule.ts';
import {voucherIndex, voucherOf} from '../../lib/sitemap/vouchers.ts';

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

test('who names a sitemap on another host answers for it, and for those beside and below it', () => {
  const named = 'https://cdn.example/shop/index.xml';
  const voucher = voucherOf('https://example.com', named);
  assert.deepEqual(voucher, {folder: 'https://cdn.example/shop/', origin: 'https://example.com'});
  assert.equal(voucherOf('https://example.com', 'http://example.com/sitemap.xml'), null, 'needs no voucher');
  assert.equal(voucherOf('https://example.com', 'ftp://cdn.example/a'), null);
  assert.equal(voucherOf('https://example.com', 'nonsense'), null);

  const namedBy = voucherIndex([voucher!, {folder: 'https://cdn.example/', origin: 'https://other.example'}]);
  const origins = (url: string) => [...namedBy(url)].sort();
  assert.deepEqual(origins('https://cdn.example/shop/parts/1.xml.gz'), [
    'https://example.com',
    'https://other.example',
  ]);
  assert.deepEqual(origins('https://cdn.example/shopping/1.xml'), ['https://other.example']);
  assert.deepEqual(origins('http://cdn.example/shop/index.xml'), [], 'another origin');
  assert.deepEqual([...voucherIndex([])(named)], []);
});
