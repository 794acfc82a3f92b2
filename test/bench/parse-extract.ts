import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {cpuUsage} from 'node:process';
import {loadExtractor} from '../../jobs/extract/load.ts';
import {digestOf} from '../../jobs/extract/source.ts';
import {StoredPage} from '../../lib/extract/page.ts';
import {type LoadedExtractor, runExtractor} from '../../lib/extract/run.ts';
import {readYamlExtractor} from '../../lib/extract/yaml.ts';
import {parsePage} from '../../lib/parse/page.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';

/**
 * What an extractor costs a page, ms CPU in one thread: `tsx test/bench/parse-extract.ts`. Pages of 42 KB, made from a
 * seed; medians of 3 passes over 100 pages. The page is at hand and parsed, as within a parse.
 */
const count = 100;
const passes = 3;

let seed = 7;
const random = (): number => {
  seed = (seed * 48_271) % 2_147_483_647; // Park and Miller
  return seed / 2_147_483_647;
};
const words = Array.from({length: 2000}, () =>
  Array.from({length: 3 + Math.floor(random() * 8)}, () => 'aeiounrstlmdkß'[Math.floor(random() * 14)]).join(
    '',
  ),
);
const sentence = (): string =>
  Array.from({length: 14}, () => words[Math.floor(random() * words.length)]).join(' ');

function makePage(at: number): string {
  const blocks = Array.from(
    {length: 95},
    (_, block) =>
      `<article class="teaser t${block % 7}" data-id="${block}"><h2><a href="/story/${at}-${block}">${sentence()}</a></h2>` +
      `<p class="lead">${sentence()} <b>${sentence()}</b></p><time datetime="2026-05-01T08:00Z">today</time></article>`,
  );
  const product = {'@type': 'Product', name: sentence(), offers: {price: '12.50', priceCurrency: 'EUR'}};
  return `<!doctype html><html lang=de><head><title>${sentence()}</title>
<script type="application/ld+json">${JSON.stringify(product)}</script></head><body><nav>${sentence()}</nav>${blocks.join('\n')}</body></html>`;
}

const header = ['Content-Type: text/html; charset=utf-8'];
const inputs = Array.from({length: count}, (_, at) => pageInput(makePage(at), header));
const parsed = inputs.map((input) => parsePage(input, pageOptions));

function pageOf(at: number): StoredPage {
  return new StoredPage({
    input: inputs[at]!,
    captureId: `${at}`,
    segment: '',
    kind: 'page',
    fetchTime: new Date(0),
    fetchStatus: 200,
    options: pageOptions,
    parse: () => ({columns: parsed[at]!.columns, links: [], base: null}),
  });
}

function measure(name: string, run: (at: number) => void): void {
  const times: number[] = [];
  for (let pass = 0; pass <= passes; pass++) {
    const before = cpuUsage();
    for (let at = 0; at < count; at++) run(at);
    const {user, system} = cpuUsage(before);
    if (pass > 0) times.push((user + system) / 1000 / count); // the first one warms up
  }
  times.sort((a, b) => a - b);
  console.log(`${name.padEnd(44)} ${times[passes >> 1]!.toFixed(3)}`);
}

const dir = mkdtempSync(join(tmpdir(), 'crawl-bench-'));
async function moduleOf(name: string, body: string): Promise<LoadedExtractor> {
  const path = join(dir, `${name}.mjs`);
  writeFileSync(
    path,
    `export default {columns: {a: {type: 'text', nullable: true}}, extract(page) { ${body} }};`,
  );
  return loadExtractor({path, digest: await digestOf(path)});
}

try {
  const bytes = inputs.reduce((sum, {payload}) => sum + payload.length, 0) / count / 1000;
  console.log(`${count} pages of ${bytes.toFixed(1)} KB, node ${process.version}, ms CPU a page`);
  measure('parsePage, to compare', (at) => parsePage(inputs[at]!, pageOptions));
  const steps: Record<string, LoadedExtractor> = {
    'nothing: one row of one column': await moduleOf('least', 'return {a: page.url};'),
    'columns of the parse': await moduleOf('columns', 'return {a: page.parsed.title};'),
    'things of JSON-LD': await moduleOf(
      'things',
      'return page.things("Product").map(({name}) => ({a: name}));',
    ),
    'events: all start tags': await moduleOf(
      'events',
      'let n = 0; page.events({open() { n++; }}); return {a: String(n)};',
    ),
    'tree, nothing selected': await moduleOf('tree', 'return {a: page.dom.type};'),
    'tree, 95 headings by selector': await moduleOf(
      'headings',
      'return page.select("article.teaser h2 > a").map((node) => ({a: page.text(node)}));',
    ),
    'YAML, 95 rows of 4 columns': readYamlExtractor(
      'rows: article.teaser\ncolumns:\n  link: {select: h2 a, type: url}\n  headline: {select: h2}\n  lead: {select: .lead}\n  time: {select: time, type: timestamp}',
      'bench.yaml',
      'bench',
    ),
  };
  for (const [name, extractor] of Object.entries(steps))
    measure(name, (at) => {
      const {status, error} = runExtractor(extractor, pageOf(at));
      if (status !== 'success') throw new Error(`${name}: ${error}`);
    });
} finally {
  rmSync(dir, {recursive: true, force: true});
}
