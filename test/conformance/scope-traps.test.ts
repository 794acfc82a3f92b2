import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {checkScope} from '../../lib/scope/check.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {normalizeUrl, urlPolicy} from '../../lib/url/normalize.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {defaultConfig} from '../support/url-config.ts';

/** Families of URLs that never end, and pages that look like them. */
const policy = urlPolicy(defaultConfig.url);
const scope = makeScope(defaultConfig.scope, defaultConfig.url, defaultConfig.links, []);
const families = (): {id: string; urls: string[]; legit_lookalikes?: string[]}[] =>
  (JSON.parse(readFileSync(corpus('vectors/traps.json')!, 'utf8')) as {cases: ReturnType<typeof families>})
    .cases;

test('the defaults keep every page that only looks like a trap, under its own URL', {
  skip: withoutCorpus('vectors/traps.json'),
}, () => {
  let asked = 0;
  for (const {id, legit_lookalikes = []} of families())
    for (const url of legit_lookalikes) {
      assert.ok(checkScope({url, depth: 1}, policy, scope).accepted, `${id}: ${url}`);
      const result = normalizeUrl(url, policy);
      assert.ok('url' in result);
      assert.equal(decodeURI(result.url), decodeURI(new URL(url).href.replace(/#.*$/, '')), id);
      asked++;
    }
  assert.ok(asked > 15);
});

test('tracking parameters and session ids fold into one URL', {
  skip: withoutCorpus('vectors/traps.json'),
}, () => {
  const shrink = (id: string) => {
    const family = families().find((one) => one.id === id);
    return family && new Set(family.urls.map((url) => JSON.stringify(normalizeUrl(url, policy)))).size;
  };
  // All but ?ref=…, which can change the page
  const tracking = shrink('tracking');
  if (tracking !== undefined) assert.equal(tracking, 2);
});
