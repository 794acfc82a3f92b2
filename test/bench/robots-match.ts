import {createRequire} from 'node:module';
import {isAllowed, rulesFor} from '../../lib/robots/match.ts';
import {parseRobots} from '../../lib/robots/parse.ts';

/**
 * CPU time of 10,000 rules × 10,000 URLs of one host, ours against npm robots-parser in the same run.
 * Run: node --import tsx test/bench/robots-match.ts
 *
 * The library is asked 300 URLs only, and its time is scaled to 10,000.
 */
type Parser = (url: string, text: string) => {isAllowed(url: string, agent: string): boolean | undefined};
const robotsParser = createRequire(import.meta.url)('robots-parser') as Parser;

function cpuMs(): number {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1000;
}

const count = 10_000;
const libraryUrls = 300;

const shapes: Readonly<Record<string, (i: number) => string>> = {
  'paths without wildcard': (i) => `Disallow: /section-${i % 97}/item-${i}/`,
  'paths, deeply nested': (i) => `Disallow: /${'d/'.repeat(i % 40)}n${i}`,
  'wildcards with a word': (i) => `Disallow: /*/item-${i}.html`,
  'wildcards with $': (i) => `Disallow: /*-${i}.pdf$`,
  'mixed, as large real files': (i) =>
    i % 10 === 0
      ? `Disallow: /*?page-${i}=*`
      : i % 7 === 0
        ? `Allow: /html/E${i}_01/index.html$`
        : `Disallow: /html/E${i}_01/`,
  'wildcards, short parts only': (i) => `Disallow: /*${i.toString(36).split('').join('*')}`,
  'wildcards, all of one word': (i) => `Disallow: /*item*${i % 1000}*x${i}`,
};

const urls = Array.from(
  {length: count},
  (_, i) => `https://example.com/html/section-${i % 97}/item-${(i * 7) % count}.html?page-${i}=${i * 31}`,
);

for (const [name, shape] of Object.entries(shapes)) {
  const text = 'User-agent: *\n' + Array.from({length: count}, (_, i) => shape(i)).join('\n') + '\n';
  const bytes = Buffer.from(text);
  let start = cpuMs();
  const rules = rulesFor(parseRobots(bytes, {maxBytes: bytes.length, typos: false}), 'crawl');
  const parseMs = cpuMs() - start;
  start = cpuMs();
  let denied = 0;
  for (const url of urls) if (!isAllowed(rules, url).allowed) denied++;
  const matchMs = cpuMs() - start;

  start = cpuMs();
  const theirs = robotsParser('https://example.com/robots.txt', text);
  const theirParseMs = cpuMs() - start;
  start = cpuMs();
  for (const url of urls.slice(0, libraryUrls)) theirs.isAllowed(url, 'crawl');
  const theirMatchMs = ((cpuMs() - start) * count) / libraryUrls;

  console.log(
    JSON.stringify({
      rules: name,
      bytes: bytes.length,
      denied,
      parse_ms: Math.round(parseMs),
      match_ms: Math.round(matchMs),
      library_parse_ms: Math.round(theirParseMs),
      library_match_ms: Math.round(theirMatchMs),
    }),
  );
}
