import {readFileSync} from 'node:fs';
import {gunzipSync} from 'node:zlib';
import {parsePage} from '../../lib/parse/page.ts';
import {corpus} from '../support/corpora.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';

/**
 * What a fingerprint should be made of: recall and precision at 3 and 6 bits on the public pages for several choices
 * of features and weights, each with a dozen hash functions, since what one of them finds is chance to a large part:
 * `tsx test/bench/near-duplicate-features.ts [HASHES]`.
 */
const hashes = Number(process.argv[2] ?? 12);
/** What is near by its words: as in near-duplicates.ts. */
const same = 0.7;

interface Page {
  readonly text: string;
  readonly main: string;
  readonly title: string;
}

/** Features with their weights. */
type Features = ReadonlyMap<string, number>;
type Choice = (page: Page) => Features;

const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const numbersAlike = (tokens: string[]): string[] =>
  tokens.map((token) => (/^\p{N}+$/u.test(token) ? '0' : token));

/** Runs of `from` to `to` tokens, each occurrence weighing what `weight` says of its length. */
function runs(
  tokens: readonly string[],
  from: number,
  to: number,
  weight = (_length: number) => 1,
): Features {
  const found = new Map<string, number>();
  for (let length = from; length <= to; length++)
    for (let at = 0; at + length <= tokens.length; at++) {
      const run = tokens.slice(at, at + length).join(' ');
      found.set(run, (found.get(run) ?? 0) + weight(length));
    }
  return found;
}

function weighed(features: Features, weight: (occurrences: number) => number): Features {
  return new Map([...features].map(([run, occurrences]) => [run, weight(occurrences)]));
}

const choices: Readonly<Record<string, Choice>> = {
  'text, runs of 1 to 3, by occurrence (the one in use)': ({text}) => runs(words(text), 1, 3),
  'text, words, by occurrence': ({text}) => runs(words(text), 1, 1),
  'text, runs of 1 and 2': ({text}) => runs(words(text), 1, 2),
  'text, runs of 3': ({text}) => runs(words(text), 3, 3),
  'text, runs of 1 to 5': ({text}) => runs(words(text), 1, 5),
  'text, 1 to 3, once each': ({text}) => weighed(runs(words(text), 1, 3), () => 1),
  'text, 1 to 3, by log of occurrences': ({text}) =>
    weighed(runs(words(text), 1, 3), (n) => Math.log2(1 + n)),
  'text, 1 to 3, by occurrences^1.5': ({text}) => weighed(runs(words(text), 1, 3), (n) => n ** 1.5),
  'text, 1 to 3, shorter runs 4, 2, 1': ({text}) => runs(words(text), 1, 3, (length) => 8 / 2 ** length),
  'text, 1 to 3, numbers alike': ({text}) => runs(numbersAlike(words(text)), 1, 3),
  'text, 1 to 3, no numbers': ({text}) =>
    runs(
      words(text).filter((word) => !/^\p{N}+$/u.test(word)),
      1,
      3,
    ),
  'text and ten times the title, 1 to 3': ({text, title}) =>
    runs(words(`${text} ${`${title} `.repeat(10)}`), 1, 3),
  'text and main text, 1 to 3': ({text, main}) => runs(words(`${text} ${main}`), 1, 3),
  'main text, 1 to 3': ({main}) => runs(words(main), 1, 3),
  'main text, 1 to 3, numbers alike': ({main}) => runs(numbersAlike(words(main)), 1, 3),
};

function readPage(file: string): Page {
  const bytes = readFileSync(corpus(file)!);
  const body = file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  const {text, main_text, title} = parsePage(
    pageInput(body, ['Content-Type: text/html']),
    pageOptions,
  ).columns;
  return {text: text ?? '', main: main_text ?? text ?? '', title: title ?? ''};
}

const lines = readFileSync(corpus('pages/INDEX.jsonl')!, 'utf8').trim().split('\n');
const pages = lines
  .map((line) => (JSON.parse(line) as {file: string}).file)
  .filter((file) => /html?(?:\.gz)?$/.test(file))
  .map(readPage)
  .filter(({text}) => words(text).length >= 20);
const {pairs} = JSON.parse(readFileSync(corpus('near-duplicates/PAIRS.json')!, 'utf8')) as {
  pairs: {a: string; b: string; jaccard5: number}[];
};
const templated = new Map(
  [...new Set(pairs.flatMap(({a, b}) => [a, b]))].map((file) => [file, readPage(`near-duplicates/${file}`)]),
);

const shingles = pages.map(({text}) => new Set(runs(words(text), 3, 3).keys()));
/** Jaccard's likeness of each pair of pages, row by row. */
const likeness: number[] = [];
for (const [at, one] of shingles.entries())
  for (const two of shingles.slice(at + 1)) {
    let both = 0;
    for (const run of one) if (two.has(run)) both++;
    likeness.push(both / (one.size + two.size - both));
  }
const wanted = likeness.filter((value) => value >= same).length;
console.log(
  `${pages.length} pages, ${wanted} pairs share ${same} of their runs of three words; ${hashes} hashes`,
);

function fmix32(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** The low and high words of a page's fingerprints, one for each hash. */
function fingerprints(features: Features): Int32Array {
  const counts = Array.from({length: hashes}, () => new Float64Array(64));
  let total = 0;
  for (const [run, weight] of features) {
    total += weight;
    let a = 0x811c9dc5 | 0;
    let b = 0x9747b28c | 0;
    for (let at = 0; at < run.length; at++) {
      a = Math.imul(a ^ run.charCodeAt(at), 0x01000193);
      b = Math.imul(b ^ run.charCodeAt(at), 0x5bd1e995) ^ (b >>> 15);
    }
    for (const [seed, bits] of counts.entries()) {
      const low = fmix32((a + Math.imul(seed + 1, 0x9e3779b1)) | 0);
      const high = fmix32(((b ^ low) + Math.imul(seed + 7, 0x7feb352d)) | 0);
      for (let bit = 0; bit < 32; bit++) {
        bits[bit]! += weight * ((low >>> bit) & 1);
        bits[32 + bit]! += weight * ((high >>> bit) & 1);
      }
    }
  }
  const found = new Int32Array(2 * hashes);
  for (const [seed, bits] of counts.entries())
    for (let bit = 0; bit < 64; bit++)
      if (bits[bit]! > total / 2) found[2 * seed + (bit >> 5)]! |= 1 << (bit & 31);
  return found;
}

function ones(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

const distance = (a: Int32Array, b: Int32Array, seed: number): number =>
  ones(a[2 * seed]! ^ b[2 * seed]!) + ones(a[2 * seed + 1]! ^ b[2 * seed + 1]!);

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
/** `0.41 (0.18 to 0.70)`. */
const spread = (values: readonly number[], digits: number): string =>
  `${mean(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

for (const [name, choose] of Object.entries(choices)) {
  const prints = pages.map((page) => fingerprints(choose(page)));
  const others = new Map([...templated].map(([file, page]) => [file, fingerprints(choose(page))]));
  const figures = [3, 6].map((limit) => ({limit, recall: [] as number[], precision: [] as number[]}));
  const dated: number[] = [];
  const apart: number[] = [];
  for (let seed = 0; seed < hashes; seed++) {
    for (const {limit, recall, precision} of figures) {
      let found = 0;
      let right = 0;
      let at = 0;
      for (const [index, one] of prints.entries())
        for (let other = index + 1; other < prints.length; other++, at++) {
          if (distance(one, prints[other]!, seed) > limit) continue;
          found++;
          if (likeness[at]! >= same) right++;
        }
      recall.push(right / wanted);
      precision.push(found === 0 ? 1 : right / found);
    }
    const between = ({a, b}: {a: string; b: string}) => distance(others.get(a)!, others.get(b)!, seed);
    dated.push(...pairs.filter(({jaccard5}) => jaccard5 > 0.8).map(between));
    apart.push(Math.min(...pairs.filter(({jaccard5}) => jaccard5 < 0.3).map(between)));
  }
  const texts = figures.map(
    ({limit, recall, precision}) =>
      `<= ${limit}: recall ${spread(recall, 2)}, precision ${spread(precision, 3)}`,
  );
  console.log(
    `${name}\n  ${texts.join('; ')}\n  one page at two dates ${spread(dated, 1)}, others of a template ${spread(apart, 1)}`,
  );
}
