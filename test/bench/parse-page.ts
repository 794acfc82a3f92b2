import {readdirSync, readFileSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync, gzipSync} from 'node:zlib';
import {decodeBody} from '../../lib/parse/body.ts';
import {findCharset} from '../../lib/parse/charset.ts';
import {decoderOf} from '../../lib/parse/decode.ts';
import {readHtml} from '../../lib/parse/html.ts';
import {type MarkupSource, markupOfBytes, markupOfText, readMarkup} from '../../lib/parse/html-events.ts';
import {detectLanguage} from '../../lib/parse/language.ts';
import {mainText} from '../../lib/parse/main-text.ts';
import {linkRows} from '../../lib/parse/outlinks.ts';
import {parsePage} from '../../lib/parse/page.ts';
import {detectType} from '../../lib/parse/sniff.ts';
import {openGraph, readJsonLd, statedDates} from '../../lib/parse/structured.ts';
import {parseHtml} from '../../lib/parse/types/html.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {bodySignature, textSignature} from '../../lib/signature/exact.ts';
import {simhashOfLower} from '../../lib/signature/simhash.ts';
import {parseBase, urlPolicy} from '../../lib/url/normalize.ts';
import {corpus} from '../support/corpora.ts';
import {pageOptions} from '../support/parse-options.ts';
import {defaultConfig} from '../support/url-config.ts';

/**
 * CPU of parsing a page, one thread, by what is read: `tsx test/bench/parse-page.ts [FOLDER [STEP]]`. FOLDER holds
 * pages, below it, as NAME.html or NAME.html.gz (the packed ones are taken, if there are any); else the corpus of
 * pages. STEP, a part of a name, runs that step alone, as fast as in a parse: after one another they share code that
 * was compiled for all of them.
 */
const passes = 5;
const folder = process.argv[2] ?? corpus('pages');
if (folder === undefined) throw new Error('no pages: name a folder');

function filesBelow(path: string): string[] {
  return statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => filesBelow(join(path, name)))
    : [path];
}
const all = filesBelow(folder);
const packed = all.filter((path) => /html\.gz$/.test(path));
const files = (
  process.argv[2] !== undefined && packed.length > 0
    ? packed
    : all.filter((path) => /html?(?:\.gz)?$/.test(path))
).slice(0, 1000);
const pages = files.map((path) => {
  const bytes = readFileSync(path);
  const body = path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  return {body: new Uint8Array(body), packed: new Uint8Array(gzipSync(body))};
});
const mean = pages.reduce((sum, page) => sum + page.body.length, 0) / pages.length;
console.log(`${pages.length} pages of ${(mean / 1000).toFixed(1)} KB on average, node ${process.version}`);

const header = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n',
  'latin1',
);
const limits = {maxText: 1 << 20, maxAnchor: 200, maxLinks: 10_000};
const url = 'http://site0001.test/dir/page.html';
const inputs = pages.map(({body}) => ({
  url,
  bytes: body,
  type: 'text/html',
  transport: undefined,
  fallback: pageOptions.fallback,
  limits: {...limits, maxBody: 20 << 20},
}));
const sources = inputs.map(({bytes}) => {
  const charset = findCharset(bytes, {syntax: 'html', fallback: 'windows-1252'});
  const body = bytes.subarray(charset.bom);
  const decoder = decoderOf(charset.encoding);
  return {
    fast: (): MarkupSource => markupOfBytes(decoder.toUtf8(body), false),
    plain: (): MarkupSource => markupOfText(decoder.decode(body), false),
  };
});
const facts = inputs.map((input) => parseHtml(input));
const texts = facts.map((fact) => fact.text!);
const lowers = texts.map(({text}) => text.toLowerCase());
const scope = makeScope(defaultConfig.scope, defaultConfig.url, defaultConfig.links, []);
const policy = {
  url: urlPolicy(defaultConfig.url),
  scope,
  digest: scope.digest,
  follow: new Set(defaultConfig.links.follow),
  nofollow: true,
  seedScopes: {},
};
const source = {
  segment: '20260101000000',
  parse_id: 'v1',
  capture_id: 'c',
  host_key: 1n,
  url_key: 1n,
  url,
  fetch_time: new Date(0),
  depth: 0,
  seed: null,
  base: parseBase(url),
  nofollow: false,
};
const nothing = {
  open() {},
  close() {},
  wantsText: () => false,
  text() {},
  entity() {},
  inForeignContent: () => false,
};

const steps: Readonly<Record<string, (index: number) => unknown>> = {
  'content coding': (i) => decodeBody(pages[i]!.packed, 'gzip', {maxBytes: 20 << 20, maxRatio: 200}),
  'type by bytes': (i) => detectType({essence: 'text/html'}, pages[i]!.body),
  charset: (i) => findCharset(pages[i]!.body, {syntax: 'html', fallback: 'windows-1252'}),
  'tags and attributes': (i) => readMarkup(sources[i]!.fast(), nothing),
  'links, title, text, meta': (i) => readHtml(sources[i]!.fast(), limits),
  'the same, the plain way': (i) => readHtml(sources[i]!.plain(), limits),
  'link rows (URLs, scope, keys)': (i) => linkRows(facts[i]!.links, 1000, source, policy),
  signature: (i) => bodySignature(pages[i]!.body),
  'lower case': (i) => texts[i]!.text.toLowerCase(),
  text_signature: (i) => textSignature(lowers[i]!),
  'main text': (i) => mainText(texts[i]!),
  language: (i) => detectLanguage(texts[i]!.text),
  'JSON-LD, Open Graph, dates': (i) => {
    const {values} = readJsonLd(facts[i]!.jsonLd ?? []);
    return [
      openGraph(facts[i]!.metas ?? []),
      statedDates(facts[i]!.metas ?? [], values, facts[i]!.times ?? []),
    ];
  },
  simhash: (i) => simhashOfLower(lowers[i]!),
  'payload to links with URLs, title, text and signatures': (i) => {
    const {bytes} = decodeBody(pages[i]!.packed, 'gzip', {maxBytes: 20 << 20, maxRatio: 200});
    const fact = parseHtml({...inputs[i]!, bytes});
    return [
      linkRows(fact.links, 1000, source, policy),
      bodySignature(bytes),
      textSignature(fact.text!.text.toLowerCase()),
    ];
  },
  'parsePage, all columns': (i) =>
    parsePage(
      {url, header, contentType: null, contentEncoding: null, payload: pages[i]!.packed},
      pageOptions,
    ),
  'parsePage and link rows': (i) =>
    linkRows(
      parsePage(
        {url, header, contentType: null, contentEncoding: null, payload: pages[i]!.packed},
        pageOptions,
      ).links,
      1000,
      source,
      policy,
    ),
};

for (const [name, step] of Object.entries(steps)) {
  if (!name.includes(process.argv[3] ?? '')) continue;
  const times: number[] = [];
  for (let pass = 0; pass < passes + 2; pass++) {
    const before = process.cpuUsage();
    for (let index = 0; index < pages.length; index++) step(index);
    const {user, system} = process.cpuUsage(before);
    if (pass >= 2) times.push((user + system) / 1000 / pages.length);
  }
  times.sort((a, b) => a - b);
  console.log(
    `${times[passes >> 1]!.toFixed(3)} ms (${times[0]!.toFixed(3)}-${times.at(-1)!.toFixed(3)})  ${name}`,
  );
}
