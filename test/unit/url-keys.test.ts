import assert from 'node:assert/strict';
import {test} from 'node:test';
import {hostOf, ownerDomain, publicSuffix, registeredDomain, withoutWww} from '../../lib/url/host.ts';
import {hostKey, identify, urlKey} from '../../lib/url/keys.ts';
import {surt} from '../../lib/url/surt.ts';

test('hosts of URLs', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['https://example.org/a@b:c', 'example.org'],
    ['https://example.org:8080/', 'example.org'],
    ['ftp://user:pw@example.org:21/a', 'example.org'],
    ['http://[::1]:80/', '[::1]'],
    ['http://[::1]/', '[::1]'],
    ['http://127.0.0.1:1/?a', '127.0.0.1'],
    ['http://example.org?q@r', 'example.org'],
    ['mailto:a@example.org', ''],
    ['file:///a', ''],
  ];
  for (const [url, host] of cases) assert.equal(hostOf(url), host, url);
});

test('domains by the Public Suffix List', () => {
  const cases: readonly (readonly [
    host: string,
    registered: string,
    owner: string,
    suffix: string | null,
  ])[] = [
    ['www.example.org', 'example.org', 'example.org', 'org'],
    ['a.b.example.co.uk', 'example.co.uk', 'example.co.uk', 'co.uk'],
    ['co.uk', 'co.uk', 'co.uk', 'co.uk'],
    ['alice.github.io', 'github.io', 'alice.github.io', 'io'],
    ['localhost', 'localhost', 'localhost', null],
    ['127.0.0.1', '127.0.0.1', '127.0.0.1', null],
    ['[::1]', '[::1]', '[::1]', null],
    ['', '', '', null],
    ['xn--bcher-kva.xn--p1ai', 'xn--bcher-kva.xn--p1ai', 'xn--bcher-kva.xn--p1ai', 'xn--p1ai'],
    ['a.www.ck', 'www.ck', 'www.ck', 'ck'],
  ];
  for (const [host, registered, owner, suffix] of cases)
    assert.deepEqual(
      [registeredDomain(host), ownerDomain(host), publicSuffix(host)],
      [registered, owner, suffix],
      host,
    );
  assert.equal(withoutWww('www.example.org'), 'example.org');
});

test('keys are XXH64 with seed 0 over UTF-8', () => {
  // The reference implementation's values for these texts
  assert.equal(hostKey(''), 0xef46db3751d8e999n);
  assert.equal(urlKey('a'), 0xd24ec4f1a98c6e5bn);
  assert.equal(urlKey('abc'), 0x44bc2cf5ad770999n);
  const {url_key, host_key, url_host_name, url_host_registered_domain} = identify(
    'https://www.example.co.uk/a',
  );
  assert.equal(url_key, urlKey('https://www.example.co.uk/a'));
  assert.equal(host_key, hostKey('www.example.co.uk'));
  assert.deepEqual([url_host_name, url_host_registered_domain], ['www.example.co.uk', 'example.co.uk']);
});

test('SURT keys', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['https://www.example.org/', 'org,example)/'],
    ['http://WWW2.Example.org:80/A/B/', 'org,example)/a/b'],
    ['https://example.org:8443/a', 'org,example:8443)/a'],
    ['http://example.org:443/', 'org,example:443)/'],
    ['https://me:pw@example.org/a#b', 'org,example)/a'],
    ['http://example.org?b=2&a=1&a=0&c', 'org,example)/?a=0&a=1&b=2&c'],
    ['http://example.org/?', 'org,example)/'],
    ['http://example.org//a//./b/../c', 'org,example)/a/c'],
    ['http://example.org/a%20b%2541', 'org,example)/a%20ba'],
    ['http://example.org/%C3%BC?%c3%9c', 'org,example)/%c3%bc?%c3%9c'],
    ['http://127.0.0.1:8080/a', '1,0,0,127:8080)/a'],
    ['http://[::1]/', '[::1])/'],
    ['http://example.org/a;jsessionid=0123456789abcdef0123456789abcdef', 'org,example)/a'],
    ['http://example.org/?x=1&PHPSESSID=0123456789abcdef0123456789abcdef&y=2', 'org,example)/?x=1&y=2'],
    ['mailto:a@example.org', 'mailto:a@example.org'],
  ];
  for (const [url, key] of cases) assert.equal(surt(url), key, url);
});
