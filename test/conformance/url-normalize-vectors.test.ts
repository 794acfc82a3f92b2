import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {checkUrl} from '../../lib/url/check.ts';
import {normalizeUrl, urlPolicy} from '../../lib/url/normalize.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {defaultConfig} from '../support/url-config.ts';

/**
 * What our normal form is among others: where three normalizers agree it is theirs; elsewhere each difference
 * is of a kind listed here, and a difference of no kind fails.
 */
const policy = urlPolicy(defaultConfig.url);
const normal = (input: string): string | null => {
  const result = normalizeUrl(input, policy);
  return 'url' in result ? result.url : null;
};

interface NormalizeCase {
  readonly input: string;
  readonly nutch?: string | null;
  readonly nutch_idn?: string | null;
  readonly crawler_commons?: string | null;
  readonly whatwg: string | null;
  readonly agree: boolean;
}

interface Kind {
  readonly name: string;
  readonly reason: string;
  /** Is this what sets ours apart from theirs? */
  readonly holds: (ours: string | null, theirs: string, input: string) => boolean;
}

const sortedParameters = (url: string) => {
  const [path = '', query] = url.split('?');
  const parts = (query ?? '').split('&').map((part) => part.replace(/=$/, ''));
  return `${path}?${parts
    .filter((part) => part !== '' && !part.startsWith('='))
    .sort()
    .join('&')}`;
};

const kinds: readonly Kind[] = [
  {
    name: 'repeated slashes',
    reason: 'a server may tell /a//b from /a/b; url.collapse_slashes makes them one',
    holds: (ours, theirs) => ours !== null && ours.replace(/([^:])\/{2,}/g, '$1/') === theirs,
  },
  {
    name: 'parameters',
    reason:
      'their order may matter, and an empty value or part is something else than none to some programs; url.sort_parameters sorts',
    holds: (ours, theirs) =>
      ours?.includes('?') === true && sortedParameters(ours) === sortedParameters(theirs),
  },
  {
    name: 'no host',
    reason: 'the URL standard refuses http and ftp without a host, and there is nothing to ask',
    holds: (ours, theirs) => ours === null && /^(?:https?|ftp):\/*$/.test(theirs),
  },
  {
    name: 'no scheme',
    reason:
      'it is a relative URL, which only a page gives a meaning; what a person types is the command line’s to guess',
    holds: (ours, theirs, input) => ours === null && theirs === `http://${input.trim()}`,
  },
  {
    name: 'file',
    reason: 'the URL standard writes file URLs with three slashes',
    holds: (ours, theirs) =>
      ours?.startsWith('file:') === true && ours.replace(/\/{2,}/g, '/') === theirs.replace(/\/{2,}/g, '/'),
  },
];

test('the normal form is theirs where three normalizers agree, and differs by a known kind elsewhere', {
  skip: withoutCorpus('vectors/url-normalize.json'),
}, () => {
  const {cases} = JSON.parse(readFileSync(corpus('vectors/url-normalize.json')!, 'utf8')) as {
    cases: NormalizeCase[];
  };
  const seen = new Map<string, number>();
  for (const one of cases) {
    const ours = normal(one.input);
    if (one.agree) {
      assert.equal(ours, one.whatwg?.replace(/#.*$/, '') ?? null, one.input);
      continue;
    }
    const others = [one.nutch, one.nutch_idn, one.crawler_commons].filter((url) => typeof url === 'string');
    if (others.includes(ours ?? '')) continue;
    const kind = kinds.find(({holds}) => others.some((theirs) => holds(ours, theirs, one.input)));
    assert.ok(kind, `${one.input}: ${ours}, others ${others.join(' ')}`);
    seen.set(kind.name, (seen.get(kind.name) ?? 0) + 1);
  }
  assert.ok(cases.length > 50);
  for (const name of ['file', 'no host', 'parameters', 'repeated slashes']) assert.ok(seen.has(name), name);
});

test('the tables of crawler-commons: the same normal forms, or a known kind', {
  skip: withoutCorpus('urls/crawler-commons-weirdToNormalizedUrls.csv'),
}, () => {
  // Lines are INPUT, NORMAL; quotes double inside quoted fields.
  const text = readFileSync(corpus('urls/crawler-commons-weirdToNormalizedUrls.csv')!, 'utf8');
  let compared = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, quoted, plain, theirs] = /^(?:"((?:[^"]|"")*)"|([^,]*)),\s*(.*?)\s*$/.exec(line) ?? [];
    if (theirs === undefined) continue;
    const input = quoted?.replaceAll('""', '"') ?? plain!;
    const expected = theirs.replace(/^"|"$/g, '').replaceAll('""', '"');
    const ours = normal(input);
    compared++;
    if (ours === expected) continue;
    assert.ok(
      kinds.some(({holds}) => holds(ours, expected, input)) || userinfoKept(expected, ours),
      `${JSON.stringify(input)}: ${ours}, theirs ${expected}`,
    );
  }
  assert.ok(compared > 80);
});

/** Their normalizer can keep userinfo; ours never does for http: a page's credentials are not part of its name. */
function userinfoKept(theirs: string, ours: string | null): boolean {
  return ours !== null && theirs.replace(/\/\/[^/@]*@/, '//') === ours;
}

test('texts that crawler-commons refuses are refused', {
  skip: withoutCorpus('urls/crawler-commons-invalidUrls.csv'),
}, () => {
  const lines = readFileSync(corpus('urls/crawler-commons-invalidUrls.csv')!, 'utf8').split('\n');
  const inputs = lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
  assert.ok(inputs.length > 0);
  for (const input of inputs) assert.equal(normal(input), null, input);
});

test('links are resolved as browsers resolve them, and are URLs to crawl where they should be', {
  skip: withoutCorpus('vectors/url-relative.json'),
}, () => {
  const {cases} = JSON.parse(readFileSync(corpus('vectors/url-relative.json')!, 'utf8')) as {
    cases: {base: string; href: string; whatwg: string | null; http_link: boolean}[];
  };
  for (const {base, href, whatwg, http_link} of cases) {
    const answer = checkUrl({url: href, base}, policy);
    assert.equal(answer.resolved, whatwg, `${href} in ${base}`);
    assert.equal(/^https?:/.test(answer.url ?? ''), http_link, `${href} in ${base}`);
    // A link has one normal form, resolved first or not.
    if (whatwg !== null) assert.equal(answer.url, normal(whatwg));
  }
  assert.ok(cases.length > 50);
});
