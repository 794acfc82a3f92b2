import {readFileSync} from 'node:fs';
import fc from 'fast-check';
import {corpus} from './corpora.ts';

/** Pieces that URLs are made of, the awkward ones above all. */
const pieces = [
  ...[
    'http://',
    'https://',
    'HTTP:',
    'ftp://',
    'file:///',
    'mailto:',
    'data:',
    'javascript:',
    '//',
    '/',
    '\\',
  ],
  ...['example.org', 'WWW.Example.ORG', 'www.', 'a.b', 'xn--bcher-kva.de', 'bücher.de', '1.2.3.4', '0x7f.1'],
  ...[
    '[::1]',
    '[1::',
    'user:pw@',
    ':80',
    ':443',
    ':8080',
    ':99999',
    ':',
    '.',
    '..',
    './',
    '../',
    '/.',
    '/..',
  ],
  ...['%2e', '%2E%2e', '%7E', '%2f', '%', '%2', '%zz', '%25', '%41', '%C3%BC', '%e9', '%00', '%35'],
  ...[
    '?',
    '??',
    '&',
    '=',
    'a=1',
    'b=2&a=1',
    'utm_source=x',
    'UTM_Medium',
    'gclid=1',
    'PHPSESSID=abc',
    '?ref=x',
  ],
  ...['sid=0123456789abcdef0123456789abcdef', ';jsessionid=1A2B', ';v=1', '/(S(lit3py55t21z5v55vlm25s55))'],
  ...['#', '#frag', '#?', ' ', '\t', '\n', '\r', '\0', '"', "'", '<', '>', '`', '^', '|', '[', ']', '{', '}'],
  ...[
    '~',
    '!',
    '$',
    '(',
    ')',
    '*',
    '+',
    ',',
    ';',
    '@',
    '-',
    '_',
    'a',
    'Z',
    '0',
    'é',
    '\u00a0',
    '\u3002',
    '\ud800',
  ],
];

/** Texts from nearly a URL to anything at all. */
export const urlText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.constantFrom(...pieces), {maxLength: 14}).map((parts) => parts.join('')),
  },
  {
    weight: 6,
    arbitrary: fc
      .array(fc.constantFrom(...pieces), {maxLength: 10})
      .map((parts) => `http://example.org/${parts.join('')}`),
  },
  {weight: 2, arbitrary: fc.webUrl({withFragments: true, withQueryParameters: true})},
  {weight: 1, arbitrary: fc.string({unit: 'binary', maxLength: 60})},
  {
    weight: 1,
    arbitrary: fc.uint8Array({maxLength: 60}).map((bytes) => Buffer.from(bytes).toString('latin1')),
  },
);

/** Real URLs and test URLs of the corpora; none where the corpora are not on this machine. */
export function corpusUrls(): string[] {
  const urls: string[] = [];
  const read = (file: string): string | undefined => {
    const path = corpus(file);
    return path === undefined ? undefined : readFileSync(path, 'utf8');
  };
  const vectors = read('vectors/url-normalize.json');
  if (vectors)
    for (const {input} of (JSON.parse(vectors) as {cases: {input: string}[]}).cases) urls.push(input);
  const wpt = read('urls/urltestdata.json');
  if (wpt)
    for (const one of JSON.parse(wpt) as (string | {input: string})[])
      if (typeof one !== 'string') urls.push(one.input);
  const traps = read('vectors/traps.json');
  if (traps)
    for (const trap of (JSON.parse(traps) as {cases: {urls?: string[]}[]}).cases)
      urls.push(...(trap.urls ?? []));
  const answers = read('robots/real-answers.jsonl');
  if (answers)
    for (const line of answers.split('\n', 2000))
      if (line !== '') urls.push((JSON.parse(line) as {url: string}).url);
  return urls;
}

/** The text with a few of its places changed, cut or doubled. */
export function mutated(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(
      texts,
      fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...pieces)), {minLength: 1, maxLength: 4}),
    )
    .map(([text, edits]) => {
      let now = text;
      for (const [where, width, piece] of edits) {
        const at = where % (now.length + 1);
        now = now.slice(0, at) + piece + now.slice(at + width);
      }
      return now;
    });
}
