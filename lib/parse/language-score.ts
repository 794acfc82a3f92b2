import {apostrophes, type LanguageModel} from './language-model.ts';
import {NgramTable} from './ngram-table.ts';

/**
 * Which language a text is in, by the n-grams of its words in UTF-8 (method and data of eld). The answer is that of
 * the package, which a test compares on many texts.
 */

/** The detector looks at words up to the first end of one behind so many bytes, and at no more than the latter. */
const [softBytes, hardBytes] = [350, 380];
/** Longest part of a word that is cut into n-grams, in bytes. */
const maxWord = 70;
/** What the data leaves out of each score, to be smaller. */
const baseScore = 53;
/** Of fewer n-grams nothing is said. */
const leastNgrams = 3;
/** Share of a language's average that an answer needs. */
const leastShare = 0.75;

/** Letters of the words of a text, a byte each, and where each word ends. The memory is used again. */
const letters = new Uint8Array(hardBytes + 4);
const ends = new Uint16Array(hardBytes + 4);
/** N-grams of a text: fewer than its letters and words together. */
const met = new NgramTable(2 * hardBytes);

/** ISO 639-1, or null where the text says too little. */
export function scoreLanguage(text: string, model: LanguageModel): string | null {
  const words = readWords(text, model);
  const sums = new Float64Array(model.languages.length);
  met.clear();
  for (let word = 0, from = 0; word < words; word++) {
    addNgrams(from, Math.min(ends[word]!, from + maxWord), sums, model);
    from = ends[word]!;
  }
  return met.size < leastNgrams ? null : bestOf(sums, met.size, model);
}

/** Puts the words of a text into `letters`, small, with a letter for each byte that is not ASCII; their number. */
function readWords(text: string, model: LanguageModel): number {
  let words = 0;
  let used = 0;
  let bytes = 0;
  for (const char of separate(text, model).trim().toLowerCase()) {
    if (char === ' ') {
      if (used > (ends[words - 1] ?? 0)) ends[words++] = used;
      if (bytes > softBytes) break;
      bytes++;
    } else {
      const before = used;
      used = addLetters(char.codePointAt(0)!, used, model);
      bytes += used - before;
      if (bytes > hardBytes) break;
    }
  }
  if (used > (ends[words - 1] ?? 0)) ends[words++] = used;
  return words;
}

/**
 * The text with a space for each run of what is no letter. Apostrophes at the end of a run stay, as in the pattern of
 * the package (`[^letters]+(?<!apostrophe)`), which took half the time of an answer.
 */
function separate(text: string, {isLetter}: LanguageModel): string {
  let words = '';
  for (let at = 0; at < text.length; ) {
    const start = at;
    while (at < text.length && isLetter[text.charCodeAt(at)] === 1) at++;
    words += text.slice(start, at);
    const run = at;
    while (at < text.length && isLetter[text.charCodeAt(at)] === 0) at++;
    let end = at;
    while (end > run && apostrophes.includes(text.charCodeAt(end - 1))) end--;
    words += (end > run ? ' ' : '') + text.slice(end, at);
  }
  return words;
}

/** Adds the letters of a character, which stand for its bytes in UTF-8; half a pair is U+FFFD. */
function addLetters(code: number, at: number, {letters: forBytes}: LanguageModel): number {
  let used = at;
  if (code < 0x80) {
    letters[used++] = code;
    return used;
  }
  const point = code >= 0xd800 && code < 0xe000 ? 0xfffd : code;
  if (point < 0x800) letters[used++] = forBytes[0xc0 | (point >> 6)]!;
  else {
    if (point < 0x10000) letters[used++] = forBytes[0xe0 | (point >> 12)]!;
    else {
      letters[used++] = forBytes[0xf0 | (point >> 18)]!;
      letters[used++] = forBytes[0x80 | ((point >> 12) & 0x3f)]!;
    }
    letters[used++] = forBytes[0x80 | ((point >> 6) & 0x3f)]!;
  }
  letters[used++] = forBytes[0x80 | (point & 0x3f)]!;
  return used;
}

/**
 * Adds the scores of a word's n-grams, each once a text: four letters each, three apart, and the last four; a space
 * tells where the word begins and ends.
 */
function addNgrams(from: number, to: number, sums: Float64Array, model: LanguageModel): void {
  let at = from;
  for (; at + 4 < to; at += 3) {
    const four = fourLetters(at, at + 4);
    if (at === from) addNgram(32 | (four << 8), four >>> 24, sums, model);
    else addNgram(four, 0, sums, model);
  }
  const start = Math.max(from, to - 4);
  const last = fourLetters(start, to);
  const end = 8 * (to - start);
  if (at > from) {
    // Only a word that goes on has n-grams before its last, which is then of four letters.
    addNgram(last, 32, sums, model);
  } else if (end < 24) addNgram(32 | (last << 8) | (32 << (end + 8)), 0, sums, model);
  else if (end === 24) addNgram(32 | (last << 8), 32, sums, model);
  else addNgram(32 | (last << 8), (last >>> 24) | (32 << 8), sums, model);
}

/** Up to four letters as a word, the first one lowest. */
function fourLetters(from: number, to: number): number {
  let word = 0;
  for (let at = from; at < to; at++) word |= letters[at]! << (8 * (at - from));
  return word;
}

function addNgram(low: number, high: number, sums: Float64Array, {places, scores}: LanguageModel): void {
  if (!met.add(low, high, 0)) return;
  const place = places.get(low, high);
  if (place === -1) return;
  const end = place + 2 * scores[place]!;
  for (let at = place + 1; at < end; at += 2) sums[scores[at]!]! += scores[at + 1]! + baseScore;
}

function bestOf(sums: Float64Array, ngrams: number, {languages, averages}: LanguageModel): string | null {
  let best = -1;
  for (let id = 0; id < sums.length; id++) if (sums[id]! > (sums[best] ?? 0)) best = id;
  const language = languages[best];
  if (language === undefined) return null;
  const mean = sums[best]! / ngrams;
  const score = mean / (mean + 25);
  return averages[language]! * leastShare > score ? null : language;
}
