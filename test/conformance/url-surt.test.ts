import assert from 'node:assert/strict';
import {test} from 'node:test';
import {normalizeUrl, urlPolicy} from '../../lib/url/normalize.ts';
import {surt} from '../../lib/url/surt.ts';
import {cdxKeys} from '../support/cdx-keys.ts';
import {withoutCorpus} from '../support/corpora.ts';
import {defaultConfig} from '../support/url-config.ts';

test('SURT keys are those of Common Crawl’s, the Internet Archive’s and pywb’s indexes', {
  skip: withoutCorpus('cdx'),
}, () => {
  const policy = urlPolicy(defaultConfig.url);
  let compared = 0;
  for (const {key, url, file} of cdxKeys()) {
    // pywb adds the body of a POST to its key, and this file is in a form without SURT.
    if (key.includes('__wb_method=post') || file.includes('non-surt')) continue;
    assert.equal(surt(url), key, `${url} in ${file}`);
    const normal = normalizeUrl(url, policy);
    assert.ok('url' in normal && surt(normal.url) === key, `${url}, normalized, in ${file}`);
    compared++;
  }
  assert.ok(compared > 60);
});
