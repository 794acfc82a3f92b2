import {loadLanguageModel} from './language-model.ts';
import {scoreLanguage} from './language-score.ts';

const model = await loadLanguageModel();

/** Characters that are looked at: the detector itself stops at a word's end behind 350 bytes. */
const sample = 500;
/** Fewer say too little: measured, below it the detector's sets of data contradict each other. */
const least = 50;

/** ISO 639-3 codes of the languages that the detector knows, as Common Crawl has them. */
const threeLetters: Readonly<Record<string, string>> = {
  am: 'amh',
  ar: 'ara',
  az: 'aze',
  be: 'bel',
  bg: 'bul',
  bn: 'ben',
  ca: 'cat',
  cs: 'ces',
  da: 'dan',
  de: 'deu',
  el: 'ell',
  en: 'eng',
  es: 'spa',
  et: 'est',
  eu: 'eus',
  fa: 'fas',
  fi: 'fin',
  fr: 'fra',
  gu: 'guj',
  he: 'heb',
  hi: 'hin',
  hr: 'hrv',
  hu: 'hun',
  hy: 'hye',
  is: 'isl',
  it: 'ita',
  ja: 'jpn',
  ka: 'kat',
  kn: 'kan',
  ko: 'kor',
  ku: 'kur',
  lo: 'lao',
  lt: 'lit',
  lv: 'lav',
  ml: 'mal',
  mr: 'mar',
  ms: 'msa',
  nl: 'nld',
  no: 'nor',
  or: 'ori',
  pa: 'pan',
  pl: 'pol',
  pt: 'por',
  ro: 'ron',
  ru: 'rus',
  sk: 'slk',
  sl: 'slv',
  sq: 'sqi',
  sr: 'srp',
  sv: 'swe',
  ta: 'tam',
  te: 'tel',
  th: 'tha',
  tl: 'tgl',
  tr: 'tur',
  uk: 'ukr',
  ur: 'urd',
  vi: 'vie',
  yo: 'yor',
  zh: 'zho',
};

/** Language that a text is written in, ISO 639-3, or null where the detector is not sure. */
export function detectLanguage(text: string): string | null {
  if (text.length < least) return null;
  const found = scoreLanguage(text.slice(0, sample), model);
  return found === null ? null : (threeLetters[found] ?? null);
}
