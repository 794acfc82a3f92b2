import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {checkUrl} from '../../lib/url/check.ts';
import {normalizeUrl, urlPolicy} from '../../lib/url/normalize.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {defaultConfig} from '../support/url-config.ts';

/**
 * The URL standard's own tests. The parser is Node's; it is older than the tests, and the list says in what.
 * A difference that Node no longer has fails too, so that the list stays true.
 */
const policy = urlPolicy({...defaultConfig.url, max_length: 100_000});
const withComments = (file: string): unknown[] =>
  (JSON.parse(readFileSync(corpus(file)!, 'utf8')) as unknown[]).filter((one) => typeof one !== 'string');
const resolved = (url: string, base?: string | null) => checkUrl({url, base: base ?? null}, policy).resolved;

interface Known {
  readonly reason: string;
  readonly holds: (input: string) => boolean;
}
const spacesBeforeFragment: Known = {
  reason: 'Node 20 keeps spaces at the end of an opaque path; no URL that is crawled has one',
  holds: (input) => /^non-special:opaque\s/.test(input),
};
const punycode: Known = {
  reason: 'Node 20 refuses xn-- labels that decode to nothing; DNS can hold none that a registry gave out',
  holds: (input) => /xn--/i.test(input),
};
const caret: Known = {
  reason: 'Node 20 leaves ^ in paths, and our own step escapes it for http and https',
  holds: (input) => input.includes('[\\]^_`{|}~'),
};
const olderUnicode: Known = {
  reason: 'Node 20 has an older Unicode: ẞ is ss, some letters added or removed from the tables are refused',
  holds: (input) => /[\u180e\u206b\u04c0\u{2f868}\u2183\u1e9e]/u.test(input) || input.startsWith('㛼'),
};

/** Known differences that did not show: all must on Node 20, whose parser they are about; later ones mend some. */
function unseen(known: readonly Known[], seen: ReadonlySet<Known>): readonly Known[] {
  return process.version.startsWith('v20.') ? known.filter((one) => !seen.has(one)) : [];
}

test('the URL standard: urltestdata', {skip: withoutCorpus('urls/urltestdata.json')}, () => {
  const cases = withComments('urls/urltestdata.json') as {
    input: string;
    base: string | null;
    failure?: boolean;
    href?: string;
  }[];
  const known = [spacesBeforeFragment, punycode, caret];
  const seen = new Set<Known>();
  for (const {input, base, failure, href} of cases) {
    const expected = failure ? null : href!;
    const got = resolved(input, base);
    if (got === expected) continue;
    const difference = known.find(({holds}) => holds(input));
    assert.ok(difference, `${JSON.stringify(input)} in ${base}: ${got}, expected ${expected}`);
    seen.add(difference);
  }
  assert.ok(cases.length > 800);
  assert.deepEqual(unseen(known, seen), []);
});

test('what the standard makes of a text and its serialization have one normal form', {
  skip: withoutCorpus('urls/urltestdata.json'),
}, () => {
  for (const {input, base, href} of withComments('urls/urltestdata.json') as {
    input: string;
    base: string | null;
    href?: string;
  }[]) {
    if (href === undefined || resolved(input, base) !== href) continue;
    assert.deepEqual(normalizeUrl(input, policy, base ?? undefined), normalizeUrl(href, policy), input);
  }
});

test('the URL standard: host names to ASCII', {skip: withoutCorpus('urls/toascii.json')}, () => {
  const known = [punycode, olderUnicode];
  for (const {input, output} of withComments('urls/toascii.json') as {
    input: string;
    output: string | null;
  }[]) {
    const href = resolved(`https://${input}/x`);
    const got = href === null ? null : new URL(href).host;
    if (got !== output)
      assert.ok(
        known.some(({holds}) => holds(input)),
        `${JSON.stringify(input)}: ${got}, expected ${output}`,
      );
  }
});

test('the URL standard: percent-encoding of UTF-8', {
  skip: withoutCorpus('urls/percent-encoding.json'),
}, () => {
  for (const {input, output} of withComments('urls/percent-encoding.json') as {
    input: string;
    output: {'utf-8': string};
  }[]) {
    assert.equal(resolved(`https://example.org/?${input}`), `https://example.org/?${output['utf-8']}`);
    // Ours are the same bytes, all that the grammar does not allow escaped.
    const result = normalizeUrl(`https://example.org/?${input}`, policy);
    assert.ok('url' in result);
    assert.equal(
      result.url,
      `https://example.org/?${output['utf-8'].replaceAll('|', '%7C').replaceAll('\\', '%5C')}`,
    );
  }
});

test('urlcanon: IPv4 addresses in odd spellings', {
  skip: withoutCorpus('urls/urlcanon-funky_ipv4.json'),
}, () => {
  const cases = JSON.parse(readFileSync(corpus('urls/urlcanon-funky_ipv4.json')!, 'utf8')) as Record<
    string,
    string | null
  >;
  // "0000xa" is a name to the standard: no part of it is a number.
  const asName = new Set(['0000xa']);
  for (const [input, expected] of Object.entries(cases)) {
    const answer = checkUrl({url: `http://${input}/`}, policy);
    assert.equal(answer.host, asName.has(input) ? input : expected, input);
  }
});

test('urlcanon: dot segments', {skip: withoutCorpus('urls/urlcanon-path_dots.json')}, () => {
  const {special} = JSON.parse(readFileSync(corpus('urls/urlcanon-path_dots.json')!, 'utf8')) as {
    special: Record<string, string>;
  };
  let compared = 0;
  for (const [input, expected] of Object.entries(special)) {
    // Its answers keep backslashes; the standard makes them slashes, for http as for a browser.
    if (input.includes('\\')) continue;
    const result = normalizeUrl(`http://example.org${input}`, policy);
    assert.deepEqual(result, {url: `http://example.org${expected}`});
    compared++;
  }
  assert.ok(compared > 200);
});

test('urlcanon: what its precise form says of http URLs, or a known kind', {
  skip: withoutCorpus('urls/urlcanon-semantic_precise.json'),
}, () => {
  const cases = JSON.parse(readFileSync(corpus('urls/urlcanon-semantic_precise.json')!, 'utf8')) as Record<
    string,
    string
  >;
  let same = 0;
  for (const [input, theirs] of Object.entries(cases)) {
    if (!/^\s*https?:/i.test(input)) continue;
    const result = normalizeUrl(input, policy);
    const ours = 'url' in result ? result.url : null;
    if (ours === theirs) same++;
    else
      assert.ok(
        urlcanonKinds.some((kind) => kind.holds(input, theirs, ours)),
        `${JSON.stringify(input)}: ${ours}, theirs ${theirs}`,
      );
  }
  assert.ok(same > 50);
});

const decodeAll = (url: string) => {
  let now = url;
  for (let before = ''; before !== now; ) {
    before = now;
    now = now.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return now;
};
const urlcanonKinds: readonly {
  readonly reason: string;
  readonly holds: (input: string, theirs: string, ours: string | null) => boolean;
}[] = [
  {
    reason: 'it keeps the fragment and an empty query',
    holds: (_input, theirs, ours) => ours === theirs.replace(/#.*$/, '').replace(/\?$/, ''),
  },
  {
    reason: 'the URL standard refuses these hosts; it escapes, guesses or repairs them',
    holds: (input, _theirs, ours) => ours === null && !/^\s*https?:\/\/[a-z]+\.(?:com|org|net)\//.test(input),
  },
  {
    reason:
      'it decodes escapes again and again, and reserved ones too; an escaped escape is not the same text',
    holds: (input, theirs, ours) =>
      ours !== null && input.includes('%') && decodeAll(ours) === decodeAll(theirs),
  },
  {
    reason: 'it sorts parameters, and makes repeated slashes one',
    holds: (_input, theirs, ours) =>
      ours !== null &&
      [...ours.replace(/([^:])\/{2,}/g, '$1/')].sort().join() ===
        [...theirs.replace(/([^:])\/{2,}/g, '$1/')].sort().join(),
  },
  {
    reason: 'it makes a slash before .. part of the segment that .. removes',
    holds: (input) => input.includes('////../'),
  },
  {
    reason: 'the case was written as bytes of UTF-8 and is kept as text of Latin-1',
    holds: (input) => /[\u0080-\u00ff]/.test(input),
  },
];
