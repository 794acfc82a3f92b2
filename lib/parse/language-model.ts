import {readFileSync} from 'node:fs';
import {NgramTable} from './ngram-table.ts';

/**
 * What eld (extra small set) knows of languages, in a form of our own. Its module of data is an object for each of
 * 49,553 n-grams; read as text, into one table and one array, all of it takes a tenth of the memory. See
 * docs/decisions/0174.
 *
 * The files are those of the pinned version; a test compares all of it with the package itself.
 */

/** Scores of n-grams, and what is needed to cut a text into them. */
export interface LanguageModel {
  /** ISO 639-1, by number. */
  readonly languages: readonly string[];
  /** Place of an n-gram's scores. */
  readonly places: NgramTable;
  /** At a place the number of scores, then pairs of language and score. */
  readonly scores: Uint8Array;
  /** What a text in a language gets on average; less than three quarters of it is no answer. */
  readonly averages: Readonly<Record<string, number>>;
  /** Whether each UTF-16 unit belongs to a word; apostrophes do not. */
  readonly isLetter: Uint8Array;
  /** The letter (of one byte, in latin1) that stands for a byte of UTF-8 above 0x7f. */
  readonly letters: Uint8Array;
}

const at = (path: string): URL => new URL(path, import.meta.resolve('eld/extrasmall'));
const part = (path: string): Promise<unknown> => import(at(path).href);

/** The part of the data between a name and the brace that closes it. */
const languagesText = /languages:\{([^}]*)\}/;
const language = /\d+:'([a-z]+)'/g;
/** More than the package has. */
const mostNgrams = 2 ** 16;
const mostScores = 2 ** 18;

/** @throws Error where the package is not as it was when this was written */
export async function loadLanguageModel(): Promise<LanguageModel> {
  const text = readFileSync(at('../ngrams/extrasmall.js'), 'utf8');
  const languages = [...(languagesText.exec(text)?.[1] ?? '').matchAll(language)].map((found) => found[1]!);
  const start = text.indexOf('ngrams:{');
  if (languages.length === 0 || start === -1) throw otherData();
  const {places, scores} = readNgrams(Buffer.from(text, 'latin1'), start + 8);
  const {avgScore} = (await part('../avgScore.js')) as {avgScore: Record<string, number>}; // its only export
  const {separators} = (await part('../regexPatterns.js')) as {separators: RegExp};
  const {dictionary} = (await part('../dictionary.js')) as {dictionary: string[]};
  return {
    languages,
    places,
    scores,
    averages: avgScore,
    isLetter: lettersOf(separators),
    letters: Uint8Array.from(dictionary, (letter) => letter.charCodeAt(0)),
  };
}

/**
 * The entries `'abc ':{0:17,5:20},` from a place on, letter by letter: patterns took five times as long and left 30 MB
 * of garbage.
 *
 * @param data a byte each letter
 */
function readNgrams(data: Uint8Array, from: number): Pick<LanguageModel, 'places' | 'scores'> {
  const places = new NgramTable(mostNgrams);
  const scores = new Uint8Array(mostScores);
  let used = 0;
  let at = from;
  while (data[at] !== brace.close) {
    const quote = data[at] === quotes.single || data[at] === quotes.double ? data[at++] : undefined;
    let low = 0;
    let high = 0;
    let length = 0;
    for (; at < data.length && data[at] !== (quote ?? colon); at++) {
      if (data[at] === backslash) at++;
      if (length < 4) low |= data[at]! << (8 * length++);
      else high |= data[at]! << (8 * (length++ - 4));
    }
    if (quote !== undefined) at++;
    if (length === 0 || length > 6 || !places.add(low, high, used)) throw otherData();
    if (data[at++] !== colon || data[at++] !== brace.open) throw otherData();
    const count = used++;
    for (let value = 0; ; at++) {
      const digit = data[at]! - zero;
      if (digit >= 0 && digit <= 9) value = value * 10 + digit;
      else {
        if (value > 255) throw otherData();
        scores[used++] = value;
        value = 0;
        if (data[at] === brace.close) break;
        if (data[at] !== colon && data[at] !== comma) throw otherData();
      }
    }
    scores[count] = (used - count - 1) / 2;
    if (data[++at] === comma) at++;
  }
  return {places, scores: scores.slice(0, used)};
}

const quotes = {single: 39, double: 34};
const brace = {open: 123, close: 125};
const [space, comma, zero, colon, backslash] = [32, 44, 48, 58, 92];

/** Whether each UTF-16 unit belongs to a word; units of pairs and apostrophes do not. */
function lettersOf(separators: RegExp): Uint8Array {
  const units = new Uint16Array(0x10000);
  for (let unit = 0; unit < units.length; unit++) units[unit] = isHalfOfPair(unit) ? space : unit;
  const text = Buffer.from(units.buffer).toString('utf16le');
  const words = text.replace(separators, (run) => ' '.repeat(run.length));
  const isLetter = new Uint8Array(units.length);
  for (let unit = 0; unit < units.length; unit++)
    if (words.charCodeAt(unit) === unit && unit !== space && !apostrophes.includes(unit)) isLetter[unit] = 1;
  return isLetter;
}

function isHalfOfPair(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000;
}

/** Part words, but stay where they stand alone or last between letters. */
export const apostrophes: readonly number[] = [0x27, 0x60, 0x2019];

function otherData(): Error {
  return new Error('eld has other data than expected');
}
