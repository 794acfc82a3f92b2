import type {PolicyTexts} from '../../jobs/config/policy-texts.ts';
import type {ExtractCheck, ExtractTrial} from '../../jobs/extract/check.ts';
import {type CheckedLink, checkParse, type ParseCheck} from '../../lib/parse/check.ts';
import {normalizeUrl, type UrlPolicy} from '../../lib/url/normalize.ts';
import {BadQuestion, type Checker, type CheckSettings, optionalText, type Question} from '../checker.ts';
import {jsonValue, type Output} from '../output.ts';
import {count, counted, visible} from '../words.ts';

/** What the checker of documents needs beside the settings. */
export interface ParseCheckerInput extends CheckSettings {
  readonly policy: UrlPolicy;
  readonly texts: PolicyTexts;
  /** Bytes of the file that a question names. Throws {@link BadQuestion} where it cannot be read. */
  readFile(name: string): Uint8Array;
  /** Extractors to try. */
  readonly trial?: ExtractTrial | undefined;
}

/** `crawl check parse`: what the parsers read in a document. */
export function parseChecker({config, policy, texts, readFile, trial}: ParseCheckerInput): Checker {
  return {
    ask(question) {
      const url = optionalText(question, 'url');
      const given = url === null ? null : normalizeUrl(url, policy);
      if (given !== null && 'reason' in given) throw new BadQuestion(`"url" is none: ${given.detail}`);
      const contentType = optionalText(question, 'content_type');
      const contentEncoding = optionalText(question, 'content_encoding');
      const document = {
        body: bodyOf(question, readFile),
        ...(url !== null && {url}),
        ...(contentType !== null && {contentType}),
        ...(contentEncoding !== null && {contentEncoding}),
      };
      const answer = checkParse(document, config, texts);
      if (trial === undefined) return answer;
      return trial(document).then((extracted) => ({...answer, extracted: jsonValue(extracted)}));
    },
    show(question, answer, colours) {
      const found = answer as ParseCheck & {readonly extracted?: readonly ExtractCheck[]}; // what ask gave
      const width = Math.max(10, ...found.outlinks.map(({kind}) => kind.length + 2));
      const titled = (title: string) => `  ${colours.dim(title.padEnd(width))}`;
      const name = optionalText(question, 'name') ?? optionalText(question, 'url') ?? 'document';
      return [
        colours.bold(visible(name)),
        ...facts(found).flatMap(([title, value]) =>
          value === null || value === '' ? [] : [`${titled(title)}${visible(value)}`],
        ),
        ...found.outlinks.map((link) => `${titled(link.kind)}${linkText(link, colours)}`),
        ...found.errors.map((error) => colours.red(`  ${visible(error)}`)),
        ...(found.extracted ?? []).flatMap((one) => extractText(one, colours)),
      ].join('\n');
    },
  };
}

/** Exactly one of the three ways to give a document. */
function bodyOf(question: Question, readFile: ParseCheckerInput['readFile']): Uint8Array {
  const ways = ['file', 'body', 'body_base64'] as const;
  const given = ways.filter((way) => optionalText(question, way) !== null);
  const [way] = given;
  if (way === undefined || given.length > 1)
    throw new BadQuestion(`one of these must be given: ${ways.map((one) => `"${one}"`).join(', ')}`);
  const text = optionalText(question, way) ?? '';
  return way === 'file' ? readFile(text) : Buffer.from(text, way === 'body' ? 'utf8' : 'base64');
}

function facts(found: ParseCheck): [title: string, value: string | null][] {
  const {robots, meta_refresh: refresh} = found;
  const rejected = found.outlinks.filter(({accepted}) => !accepted).length;
  const cut = found.outlinks_cut === 0 ? '' : `, ${count(found.outlinks_cut)} more cut`;
  const directives = Object.entries(robots).flatMap(([name, on]) => (on ? [name] : []));
  return [
    ['status', found.reason === null ? found.status : `${found.status}: ${found.reason}`],
    ['type', withOther(found.mime_detected, 'header', found.mime_type)],
    ['charset', found.charset === null ? null : `${found.charset}, by ${found.charset_source}`],
    ['title', found.title],
    ['about', found.description],
    ['language', withOther(found.lang, 'declared', found.lang_declared)],
    ['text', found.text_length === null ? null : textLength(found.text_length, found.main_text_length)],
    ['canonical', found.canonical],
    ['base', found.base],
    [
      'refresh',
      refresh === null
        ? null
        : `after ${refresh.seconds} s${refresh.url === null ? '' : ` to ${refresh.url}`}`,
    ],
    ['robots', directives.join(', ')],
    ['published', found.published],
    ['modified', found.modified],
    ['signature', found.signature],
    ['of text', found.text_signature],
    ['simhash', found.simhash],
    ['links', `${count(found.outlinks.length)}, ${count(rejected)} rejected${cut}`],
  ];
}

function textLength(all: number, main: number | null): string {
  const part = main === null ? '' : `, ${count(main)} of them main text`;
  return `${counted(all, 'character')}${part}`;
}

function withOther(value: string | null, title: string, other: string | null): string | null {
  if (other === null || other === value) return value;
  return `${value ?? 'unknown'} (${title}: ${other})`;
}

function linkText(link: CheckedLink, colours: Output['colours']): string {
  const anchor = link.anchor === null || link.anchor === '' ? '' : `  “${visible(link.anchor)}”`;
  const rel = link.rel === null || link.rel === '' ? '' : `  rel=${visible(link.rel)}`;
  const rule = link.rule === null ? '' : `, ${visible(link.rule)}`;
  const verdict = link.accepted ? '' : `  ${colours.red(`${link.reason ?? 'rejected'}${rule}`)}`;
  return `${visible(link.url ?? link.href)}${anchor}${rel}${verdict}`;
}

/** What an extractor gave: its rows, a line a value. */
function extractText(found: ExtractCheck, colours: Output['colours']): string[] {
  const why = [found.reason, found.error].filter((text) => text !== null).join(': ');
  const head = `${colours.bold(found.extractor)}: ${
    found.status === 'success'
      ? ''
      : `${found.status === 'failed' ? colours.red(found.status) : found.status}, `
  }${counted(found.rows.length, 'row')}${why === '' ? '' : ` (${visible(why)})`}`;
  return [
    head,
    ...found.rows.flatMap((row, at) =>
      Object.entries(row).map(([name, value], column) => {
        const number = column === 0 ? `${at}` : '';
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        return `  ${colours.dim(number.padEnd(5))}${colours.dim(name.padEnd(14))} ${visible(text)}`;
      }),
    ),
  ];
}
