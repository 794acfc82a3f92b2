import {gzipSync} from 'node:zlib';
import {parseSitemap} from '../../lib/sitemap/parse.ts';

/**
 * How long the largest sitemaps take in CPU time, good and bad ones.
 * Run: node --import tsx test/bench/robots-sitemap.ts
 */
const entry = (i: number) =>
  `<url><loc>https://example.com/section/page-${i}.html?a=1&amp;b=${i}</loc><lastmod>2024-01-01T00:00:00Z</lastmod><priority>0.5</priority></url>`;
const many = (n: number, unit: (i: number) => string) => Array.from({length: n}, (_, i) => unit(i)).join('');

const inputs: Readonly<Record<string, Buffer>> = {
  '50,000 entries': Buffer.from(`<urlset>${many(50_000, entry)}</urlset>`),
  '50,000 entries, gzip': gzipSync(`<urlset>${many(50_000, entry)}</urlset>`),
  '50,000 lines': Buffer.from(many(50_000, (i) => `https://example.com/section/page-${i}.html\n`)),
  '50 MB of stray ends': Buffer.from('</a>&x;<'.repeat(6_000_000)),
  '50 MB of bare &': Buffer.from('<r><loc>' + '&'.repeat(50_000_000)),
  '50 MB of open tags': Buffer.from('<a>'.repeat(16_000_000)),
  '50 MB of attributes': Buffer.from('<a ' + 'x="1" '.repeat(8_000_000)),
  '200 MB of zeros, gzip': gzipSync(Buffer.alloc(200_000_000)),
};
for (const [name, bytes] of Object.entries(inputs)) {
  const start = process.cpuUsage();
  const {entries, problemCount} = parseSitemap(bytes, {url: 'https://example.com/sitemap.xml'});
  const cpu = process.cpuUsage(start);
  console.log(
    JSON.stringify({
      input: name,
      bytes: bytes.length,
      entries: entries.length,
      problems: problemCount,
      cpu_ms: Math.round((cpu.user + cpu.system) / 1000),
    }),
  );
}
