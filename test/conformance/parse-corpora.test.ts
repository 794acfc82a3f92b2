import assert from 'node:assert/strict';
import {readdirSync, readFileSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {gunzipSync} from 'node:zlib';
import {parsePage} from '../../lib/parse/page.ts';
import {parseHtml} from '../../lib/parse/types/html.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';

function filesBelow(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? filesBelow(path) : [path];
    });
}

function corpusFiles(...folders: string[]): {path: string; bytes: Uint8Array}[] {
  return folders
    .flatMap((folder) => filesBelow(corpus(folder)!))
    .map((path) => {
      const bytes = readFileSync(path);
      return {path, bytes: path.endsWith('.gz') && folders.includes('pages') ? gunzipSync(bytes) : bytes};
    });
}

test('the fast way, over bytes, reads every page as the plain way does, over text', {
  skip: withoutCorpus('pages'),
}, () => {
  let fast = 0;
  for (const {path, bytes} of corpusFiles('pages', 'near-duplicates', 'charset')) {
    if (!/html?(?:\.gz)?$/.test(path)) continue;
    const input = {
      url: 'https://example.org/',
      bytes,
      type: 'text/html',
      transport: undefined,
      fallback: pageOptions.fallback,
      limits: {maxBody: 20 << 20, maxText: 1 << 20, maxAnchor: 200, maxLinks: 10_000},
    };
    const [quick, plain] = [parseHtml(input), parseHtml(input, true)];
    assert.deepEqual(quick, plain, path);
    fast++;
  }
  assert.ok(fast > 300, `${fast} pages`);
});

for (const [name, header] of [
  ['pages', 'Content-Type: text/html'],
  ['near-duplicates', 'Content-Type: text/html'],
  ['charset', 'Content-Type: text/html'],
  ['feeds', 'Content-Type: application/xml'],
  ['sitemaps', 'Content-Type: application/xml'],
  ['http/gzip', 'Content-Encoding: gzip'],
] as const)
  test(`every file of ${name} is a row, whatever is said of its type`, {skip: withoutCorpus(name)}, () => {
    for (const {path, bytes} of corpusFiles(name))
      for (const headers of [[header], [], ['Content-Type: text/plain']]) {
        const {columns, links} = parsePage(pageInput(bytes, headers), pageOptions);
        assert.notEqual(columns.status, 'failed', path);
        assert.ok(
          links.every((link) => link.href !== ''),
          path,
        );
        if (columns.text !== null) assert.equal(columns.text_length, columns.text.length, path);
      }
  });

test('feeds and sitemaps give their items as links', {skip: withoutCorpus('feeds/INDEX.json')}, () => {
  let items = 0;
  let read = 0;
  for (const folder of ['feeds', 'sitemaps'])
    for (const entry of JSON.parse(readFileSync(corpus(`${folder}/INDEX.json`)!, 'utf8')) as {
      file: string;
      wellformed: boolean;
      root?: string;
      loc: number;
    }[]) {
      if (!entry.wellformed || entry.root === undefined) continue;
      const {columns, links} = parsePage(
        pageInput(readFileSync(corpus(`${folder}/${entry.file}`)!), ['Content-Type: text/xml']),
        pageOptions,
      );
      const known = ['rss', 'feed', 'RDF', 'urlset', 'sitemapindex'].includes(entry.root);
      if (!known) continue;
      items++;
      if (/(?:rss|atom|rdf|sitemap)\+xml$/.test(columns.content_mime_detected ?? '')) read++;
      if (folder === 'sitemaps')
        assert.ok(links.length >= entry.loc * 0.5, `${entry.file}: ${links.length} of ${entry.loc}`);
    }
  assert.ok(items > 200, `${items} feeds`);
  assert.ok(read / items > 0.99, `${read} of ${items} seen as what they are`);
});
