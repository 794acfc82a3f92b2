/**
 * Normalize, identify and filter URLs, on one core: `node --import tsx test/bench/url-normalize.ts`.
 *
 * The URLs are real ones: those that three robots.txt parsers were asked about, and the links of real pages
 * with the page as base. Each measure is the median of five runs over all of them.
 */
import {readFileSync} from 'node:fs';
import {gunzipSync} from 'node:zlib';
import {makeScope} from '../../lib/scope/scope.ts';
import {identify} from '../../lib/url/keys.ts';
import {normalizePlain, normalizeUrl, parseBase, urlPolicy} from '../../lib/url/normalize.ts';
import {surt} from '../../lib/url/surt.ts';
import {corpus} from '../support/corpora.ts';
import {defaultConfig} from '../support/url-config.ts';

const answers = readFileSync(corpus('robots/real-answers.jsonl')!, 'utf8').trim().split('\n');
const urls = answers.map((line) => (JSON.parse(line) as {url: string}).url);

const index = readFileSync(corpus('pages/INDEX.jsonl')!, 'utf8').trim().split('\n');
const pages: {base: string; hrefs: string[]}[] = [];
for (const [i, line] of index.entries()) {
  const {file} = JSON.parse(line) as {file: string};
  const path = corpus(file) ?? corpus(`pages/${file}`);
  if (path === undefined) continue;
  const bytes = readFileSync(path);
  const html = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const hrefs = [...html.matchAll(/<a\s[^>]*?href\s*=\s*["']([^"']+)["']/gi)].map(([, href]) =>
    href!.replaceAll('&amp;', '&'),
  );
  pages.push({base: `https://www.example${i}.org/news/2024/page.html`, hrefs});
}
const links = pages.reduce((n, {hrefs}) => n + hrefs.length, 0);

const policy = urlPolicy(defaultConfig.url);
const scope = makeScope(defaultConfig.scope, defaultConfig.url, defaultConfig.links, []);
const nutchRules = `-^(?:file|ftp|mailto):
-(?i)\\.(?:gif|jpg|ico|css|sit|eps|wmf|zip|ppt|mpg|xls|gz|rpm|tgz|mov|exe|png)$
-.*(/.+?)/.*?\\1/.*?\\1/
+.
`;
const nutchScope = makeScope(defaultConfig.scope, defaultConfig.url, defaultConfig.links, [
  {file: 'regex-urlfilter.txt', text: nutchRules},
]);
const words =
  'login logout signin register cart checkout print share calendar sort filter session admin feed trackback comment reply search tag archive'.split(
    ' ',
  );
const regexScope = makeScope(
  {...defaultConfig.scope, rules: words.map((word) => `- regex [/?&]${word}[/=]`)},
  defaultConfig.url,
  defaultConfig.links,
  [],
);
const manyRules = Array.from({length: 10_000}, (_, i) => `- domain blocked${i}.example.net`);
const manyScope = makeScope(
  {...defaultConfig.scope, rules: manyRules},
  defaultConfig.url,
  defaultConfig.links,
  [],
);

/** By processor time, so that other work on the machine counts little. */
function measure(name: string, count: number, run: () => void): void {
  run();
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const start = process.cpuUsage();
    let turns = 0;
    let spent = 0;
    do {
      run();
      turns++;
      const {user, system} = process.cpuUsage(start);
      spent = user + system;
    } while (spent < 300_000);
    times.push(spent / turns);
  }
  const us = times.sort((a, b) => a - b)[2]! / count;
  console.log(
    `${name.padEnd(52)} ${Math.round(1e6 / us)
      .toLocaleString('en')
      .padStart(10)}/s ${us.toFixed(2)} µs`,
  );
}

const seed = 'https://www.example.org/';
const normal = urls.map((url) => normalizeUrl(url, policy)).flatMap((r) => ('url' in r ? [r.url] : []));
const judge = (scopeOf: typeof scope) => (url: string, from: string) => {
  const result = normalizeUrl(url, policy);
  if ('url' in result) scopeOf.check({url: result.url, depth: 3, hopType: 'L', from, seed, seedScope: 'any'});
};
const all = (each: (url: string, from: string) => void) => () => {
  for (const url of urls) each(url, seed);
};

console.log(`${urls.length} URLs, ${links} links of ${pages.length} pages, Node ${process.version}`);
measure(
  'new URL(url).href',
  urls.length,
  all((url) => new URL(url).href),
);
measure(
  'normalize, plain way',
  urls.length,
  all((url) => normalizePlain(url, policy)),
);
measure(
  'normalize',
  urls.length,
  all((url) => normalizeUrl(url, policy)),
);
measure('normalize + filter, default scope', urls.length, all(judge(scope)));
measure('normalize + filter, 10,000 domain rules', urls.length, all(judge(manyScope)));
measure('normalize + filter, Nutch’s default file', urls.length, all(judge(nutchScope)));
measure('normalize + filter, 20 regex rules', urls.length, all(judge(regexScope)));
measure('identify (two keys, host, domain)', normal.length, () => {
  for (const url of normal) identify(url);
});
measure('surt', normal.length, () => {
  for (const url of normal) surt(url);
});
measure('links of pages: normalize with parsed base', links, () => {
  for (const {base, hrefs} of pages) {
    const parsed = parseBase(base);
    for (const href of hrefs) normalizeUrl(href, policy, parsed);
  }
});
measure('links of pages: plain way', links, () => {
  for (const {base, hrefs} of pages) {
    const parsed = parseBase(base);
    for (const href of hrefs) normalizePlain(href, policy, parsed);
  }
});
measure('links of pages: normalize + filter + identify', links, () => {
  for (const {base, hrefs} of pages) {
    const parsed = parseBase(base);
    for (const href of hrefs) {
      const result = normalizeUrl(href, policy, parsed);
      if (!('url' in result)) continue;
      if (scope.check({url: result.url, depth: 3, hopType: 'L', from: base, seed: base}).accepted)
        identify(result.url);
    }
  }
});
