import assert from 'node:assert/strict';
import {test} from 'node:test';
import fc from 'fast-check';
import {normalizeUrl, urlPolicy} from '../../lib/url/normalize.ts';
import {surt} from '../../lib/url/surt.ts';
import {defaultConfig} from '../support/url-config.ts';
import {corpusUrls, urlText} from '../support/url-samples.ts';

const policy = urlPolicy(defaultConfig.url);
const real = corpusUrls();
const texts = real.length === 0 ? urlText : fc.oneof(urlText, fc.constantFrom(...real));
const urls = texts
  .map((text) => normalizeUrl(text, policy))
  .filter((result) => 'url' in result && /^https?:/.test(result.url));
const label = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/).filter((word) => !word.startsWith('www'));

test('a key is lower-case ASCII with the host turned round, and has one line', () => {
  fc.assert(
    fc.property(urls, (result) => {
      assert.ok('url' in result);
      const key = surt(result.url);
      assert.match(key, /^(?:\[[0-9a-f:]+\]|[^/()[\]:]+)(?::\d+)?\)\/[\x21-\x40\x5b-\x7e]*$/, result.url);
      assert.ok(key === key.toLowerCase());
    }),
    {numRuns: 4000},
  );
});

test('any text has a key', () => {
  fc.assert(
    fc.property(fc.oneof(texts, fc.string({unit: 'binary'})), (text) => void surt(text)),
    {numRuns: 4000},
  );
});

test('http, https, www and the order of parameters make no difference', () => {
  fc.assert(
    fc.property(label, label, fc.array(label, {minLength: 1, maxLength: 4}), (a, b, names) => {
      const key = surt(`http://${a}.${b}/x?${names.join('&')}`);
      assert.equal(surt(`https://www.${a}.${b}/x/?${names.toReversed().join('&')}`), key);
    }),
  );
});

test('keys sort hosts with their domain, and pages with their folder', () => {
  fc.assert(
    fc.property(label, label, label, label, (sub, name, top, page) => {
      const domain = surt(`http://${name}.${top}/`).slice(0, -2);
      const host = surt(`http://${sub}.${name}.${top}/${page}`);
      const deeper = surt(`http://${name}.${top}/${page}/${sub}`);
      assert.ok(host.startsWith(`${domain},`));
      assert.ok(deeper.startsWith(`${domain})/`));
      // The whole domain is one range: from the bare host to the last of its hosts
      for (const key of [host, deeper]) assert.ok(key > domain && key < `${domain}-`);
      assert.ok(deeper > surt(`http://${name}.${top}/${page}`));
    }),
  );
});

test('long nests of escapes and session ids take one pass', () => {
  const length = 100_000;
  for (const piece of [
    '%25',
    '%2525',
    'cfid=',
    'sid=',
    '/(abcdefghijklmnopqrstuvwx)',
    '&cfid=1&cftoken=2',
    ';jsessionid=',
  ])
    for (const start of ['http://a.org/', 'http://a.org/?'])
      surt(start + piece.repeat(length / piece.length));
});
