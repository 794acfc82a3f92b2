import type {LanguageModel} from './language-model.ts';

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

/** ISO 639-1, or null where the text says too little. */
export function scoreLanguage(text: string, model: LanguageModel): string | null {
  const ngrams = ngramsOf(wordsOf(text, model));
  if (ngrams.size < leastNgrams) return null;
  const sums = new Float64Array(model.languages.length);
  for (const ngram of ngrams) {
    const place = model.places.get(ngram);
    if (place === undefined) continue;
    const end = place + 2 * model.scores[place]!;
    for (let at = place + 1; at < end; at += 2) sums[model.scores[at]!]! += model.scores[at + 1]! + baseScore;
  }
  return bestOf(sums, ngrams.size, model);
}

/** Words in small letters, with a letter of one byte each for what is not ASCII. */
function wordsOf(text: string, model: LanguageModel): string[] {
  const words: string[] = [];
  let word = '';
  let bytes = 0;
  for (const char of text.replace(model.separators, ' ').trim().toLowerCase()) {
    if (char === ' ') {
      if (word !== '') words.push(word);
      word = '';
      if (bytes > softBytes) break;
      bytes++;
    } else {
      const letters = char < '\x80' ? char : lettersOf(char, model);
      word += letters;
      bytes += letters.length;
      if (bytes > hardBytes) break;
    }
  }
  if (word !== '') words.push(word);
  return words;
}

function lettersOf(char: string, {letters, encoded}: LanguageModel): string {
  let found = encoded.get(char);
  if (found === undefined) {
    found = Array.from(Buffer.from(char), (byte) => letters[byte]!).join('');
    encoded.set(char, found);
  }
  return found;
}

/** Four bytes each, three apart, and the last four; a space tells where the word begins and ends. */
function ngramsOf(words: readonly string[]): Set<string> {
  const ngrams = new Set<string>();
  for (const word of words) {
    const length = Math.min(word.length, maxWord);
    let at = 0;
    for (; at + 4 < length; at += 3) ngrams.add((at === 0 ? ' ' : '') + word.slice(at, at + 4));
    ngrams.add(`${at === 0 ? ' ' : ''}${word.slice(Math.max(0, length - 4))} `);
  }
  return ngrams;
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
