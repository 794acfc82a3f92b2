import {readFileSync} from 'node:fs';

/**
 * What eld (extra small set) knows of languages, in a form of our own. Its module of data is an object for each of
 * 49,553 n-grams; read as text, into one map and one array, all of it takes a tenth of the memory, and an answer a third
 * of the time. See docs/decisions/0174.
 *
 * The files are those of the pinned version; a test compares all of it with the package itself.
 */

/** Scores of n-grams, and what is needed to cut a text into them. */
export interface LanguageModel {
  /** ISO 639-1, by number. */
  readonly languages: readonly string[];
  /** Place of an n-gram's scores. */
  readonly places: ReadonlyMap<string, number>;
  /** At a place the number of scores, then pairs of language and score. */
  readonly scores: Uint8Array;
  /** What a text in a language gets on average; less than three quarters of it is no answer. */
  readonly averages: Readonly<Record<string, number>>;
  /** What stands between words. */
  readonly separators: RegExp;
  /** The letter that stands for a byte of UTF-8 above 0x7f. */
  readonly letters: readonly string[];
  /** Letters of characters that were met. Holds at most the letters that there are. */
  readonly encoded: Map<string, string>;
}

const at = (path: string): URL => new URL(path, import.meta.resolve('eld/extrasmall'));
const part = (path: string): Promise<unknown> => import(at(path).href);

/** The part of the data between a name and the brace that closes it. */
const languagesText = /languages:\{([^}]*)\}/;
const language = /\d+:'([a-z]+)'/g;
const ngram = /(?:'((?:[^'\\]|\\.)*)'|([^'",:{}]+)):\{([\d:,]+)\}/g;

/** @throws Error where the package is not as it was when this was written */
export async function loadLanguageModel(): Promise<LanguageModel> {
  const text = readFileSync(at('../ngrams/extrasmall.js'), 'utf8');
  const languages = [...(languagesText.exec(text)?.[1] ?? '').matchAll(language)].map((found) => found[1]!);
  const places = new Map<string, number>();
  const scores: number[] = [];
  for (const [, quoted, bare, list] of text.slice(text.indexOf('ngrams:{') + 8).matchAll(ngram)) {
    const numbers = list!.split(/[:,]/).map(Number);
    places.set(quoted?.replaceAll('\\', '') ?? bare!, scores.length);
    scores.push(numbers.length / 2, ...numbers);
  }
  if (languages.length === 0 || places.size === 0 || scores.some((score) => !(score >= 0 && score <= 255)))
    throw new Error('eld has other data than expected');
  const {avgScore} = (await part('../avgScore.js')) as {avgScore: Record<string, number>}; // its only export
  const {separators} = (await part('../regexPatterns.js')) as {separators: RegExp};
  const {dictionary} = (await part('../dictionary.js')) as {dictionary: string[]};
  return {
    languages,
    places,
    scores: Uint8Array.from(scores),
    averages: avgScore,
    separators,
    letters: dictionary,
    encoded: new Map(),
  };
}
