import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {gunzipSync} from 'node:zlib';
import {parsePage} from '../../lib/parse/page.ts';
import {hammingDistance} from '../../lib/signature/simhash.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';

/** Distance up to which two pages are taken for near-duplicates. */
const near = 3;

function read(file: string): {simhash: bigint; words: string[]} {
  const bytes = readFileSync(corpus(file)!);
  const body = file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  const {simhash, text} = parsePage(pageInput(body, ['Content-Type: text/html']), pageOptions).columns;
  return {simhash: simhash ?? 0n, words: (text ?? '').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []};
}

test('one page at two dates is near, different pages of one template are not', {
  skip: withoutCorpus('near-duplicates/PAIRS.json'),
}, (t) => {
  const {pairs} = JSON.parse(readFileSync(corpus('near-duplicates/PAIRS.json')!, 'utf8')) as {
    pairs: {a: string; b: string; jaccard5: number}[];
  };
  const distances = pairs.map(({a, b, jaccard5}) => ({
    jaccard5,
    distance: hammingDistance(read(`near-duplicates/${a}`).simhash, read(`near-duplicates/${b}`).simhash),
  }));
  const same = distances.filter(({jaccard5}) => jaccard5 > 0.8);
  const other = distances.filter(({jaccard5}) => jaccard5 < 0.3);
  t.diagnostic(
    `same ${same.map(({distance}) => distance)}; other at least ${Math.min(...other.map(({distance}) => distance))}`,
  );
  assert.ok(same.length > 0 && same.every(({distance}) => distance <= near));
  assert.ok(other.length > 100 && other.every(({distance}) => distance > near + 3));
});

test('pages within the distance share most of their runs of three words', {
  skip: withoutCorpus('pages/INDEX.jsonl'),
}, (t) => {
  const pages = readFileSync(corpus('pages/INDEX.jsonl')!, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as {file: string}).file)
    .filter((file) => /html?(?:\.gz)?$/.test(file))
    .map(read)
    .filter(({words}) => words.length >= 20);
  let pairs = 0;
  let right = 0;
  for (const [index, one] of pages.entries())
    for (const two of pages.slice(index + 1)) {
      if (hammingDistance(one.simhash, two.simhash) > near) continue;
      pairs++;
      if (jaccard(shingles(one.words), shingles(two.words)) >= 0.7) right++;
    }
  t.diagnostic(`${pairs} pairs, ${right} right`);
  assert.ok(pairs > 50);
  assert.ok(right / pairs > 0.98, `${right} of ${pairs} pairs`);
});

function shingles(words: readonly string[]): Set<string> {
  return new Set(words.slice(2).map((_, at) => words.slice(at, at + 3).join(' ')));
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const word of a) if (b.has(word)) both++;
  return both / (a.size + b.size - both);
}
