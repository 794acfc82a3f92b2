import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {test} from 'node:test';
import fc from 'fast-check';
import {CrawlError} from '../../lib/errors.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {defaultConfig} from '../support/url-config.ts';
import {mutated} from '../support/url-samples.ts';

/** Nutch's own filter files, and what its tests say of each URL: `+` accepted, `-` rejected. */
const {url, links, scope} = defaultConfig;
const anyScheme = {...scope, schemes: ['http', 'https', 'file', 'ftp', 'mailto', 'news', 'whois']};

const urlLists: Readonly<Record<string, string>> = {
  'urlfilter-regex__sample__Benchmarks.rules': '../nutch-urlfilter-Benchmarks.urls',
  'urlfilter-automaton__sample__Benchmarks.rules': '../nutch-urlfilter-Benchmarks.urls',
  'urlfilter-fast__sample__fast-urlfilter-benchmark.txt': '../nutch-urlfilter-Benchmarks.urls',
  'urlfilter-fast__sample__fast-urlfilter-test.txt': 'urlfilter-fast__sample__test.urls',
};

const folder = corpus('urls/nutch');
const ruleFiles = folder ? readdirSync(folder).filter((name) => /\.(?:rules|txt)$/.test(name)) : [];

test('there are rule files', {skip: withoutCorpus('urls/nutch')}, () => assert.ok(ruleFiles.length >= 9));

for (const file of ruleFiles) {
  test(`decides as Nutch: ${file}`, () => {
    const rules = makeScope(anyScheme, url, links, [{file, text: readFileSync(`${folder}/${file}`, 'utf8')}]);
    const list = readFileSync(`${folder}/${urlLists[file] ?? file.replace('.rules', '.urls')}`, 'utf8');
    let asked = 0;
    for (const line of list.split('\n')) {
      if (line === '') continue;
      const verdict = rules.check({url: line.slice(1), depth: 0, hopType: 'L'});
      assert.equal(verdict.accepted, line.startsWith('+'), `${line}: ${JSON.stringify(verdict)}`);
      if (!verdict.accepted && verdict.reason === 'scope_rule')
        assert.match(verdict.rule!, /^urlfilter[^:]*:\d+: /);
      asked++;
    }
    assert.ok(asked >= 3);
  });
}

test('any mutation of these files is rules or an error with file and line', {
  skip: withoutCorpus('urls/nutch'),
}, () => {
  const texts = ruleFiles.map((file) => ({file, text: readFileSync(`${folder}/${file}`, 'utf8')}));
  const mutation = fc
    .constantFrom(...texts)
    .chain(({file, text}) => mutated(fc.constant(text)).map((changed) => ({file, text: changed})));
  fc.assert(
    fc.property(mutation, (one) => {
      try {
        makeScope(anyScheme, url, links, [one]).check({
          url: 'https://example.org/a/b?c',
          depth: 1,
          hopType: 'L',
        });
      } catch (error) {
        assert.ok(error instanceof CrawlError && error.code === 'CONFIG_INVALID', String(error));
        assert.match(error.message, /^urlfilter[^:]*:\d+: /);
      }
    }),
    {numRuns: 500},
  );
});
