import assert from 'node:assert/strict';
import {join} from 'node:path';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {crawl, query} from '../support/command.ts';
import {type ServedPage, serveWeb} from '../support/served-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const site = 'http://news.test';
const page = (title: string) => `<!doctype html><title>${title}</title><p>All about ${title}.</p>`;
const urlset = (...entries: readonly (readonly [loc: string, lastmod?: string])[]) =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries
    .map(([loc, lastmod]) => `<url><loc>${loc}</loc>${lastmod ? `<lastmod>${lastmod}</lastmod>` : ''}</url>`)
    .join('')}</urlset>`;
const index = (...locs: readonly string[]) =>
  `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${locs
    .map((loc) => `<sitemap><loc>${loc}</loc></sitemap>`)
    .join('')}</sitemapindex>`;

/** A site whose pages do not link to each other: robots.txt names an index that names itself, too. */
const files: Record<string, string | ServedPage> = {
  '/robots.txt': {
    headers: {'content-type': 'text/plain'},
    body: `User-agent: *\nDisallow: /private\nSitemap: ${site}/index.xml\n`,
  },
  '/': page('home'),
  '/index.xml': {
    headers: {'content-type': 'application/xml'},
    body: index(`${site}/one.xml`, `${site}/two.xml.gz`, `${site}/index.xml`, 'http://other.test/map.xml'),
  },
  '/one.xml': {
    headers: {'content-type': 'text/plain'},
    body: urlset([`${site}/`], [`${site}/1`], ['http://other.test/x'], [`${site}/private/2`]),
  },
  // Cut in the middle: what could be read counts.
  '/two.xml.gz': {
    headers: {'content-type': 'application/gzip'},
    body: gzipSync(urlset([`${site}/3`], [`${site}/4`]).replace(/\/4<.*/, '/4')),
  },
  '/list.txt': {headers: {'content-type': 'text/plain'}, body: `${site}/1\n${site}/5\n`},
  '/1': page('one'),
  '/3': page('three'),
  '/5': page('five'),
};

test('pages that only sitemaps list are fetched; sitemaps are archived as such, and no host lists another', async (t) => {
  const web = await serveWeb(t, (host, path) => (host === 'news.test' ? files[path] : undefined));
  const dir = join(await temporaryFolder(t), 'crawl');
  const flags = [...web.flags, '--set', 'scope.sitemaps=true', '--set', 'storage.memory=256MB'];

  const ran = await crawl(['run', `${site}/`, '--no-invertlinks', '-C', dir, ...flags]);
  assert.equal(ran.code, 0, ran.stderr);

  const captures = await query<{kind: string; path: string; status: string; held: boolean}>(
    dir,
    `SELECT kind, substr(url, ${site.length + 1}) AS path, status, content_sha256 IS NOT NULL AS held
     FROM captures WHERE url LIKE '${site}%' AND kind <> 'robots' ORDER BY kind, path`,
  );
  assert.deepEqual(
    captures.map(({kind, path, status, held}) => `${kind} ${path} ${status} ${held}`),
    [
      'page / success true',
      'page /1 success true',
      'page /3 success true',
      'page /private/2 gone false',
      'sitemap /index.xml success true',
      'sitemap /one.xml success true',
      'sitemap /two.xml.gz success true',
    ],
  );
  assert.deepEqual(
    web.seen.filter(({host}) => host === 'other.test'),
    [],
    'nothing is asked of a host that only a foreign sitemap lists',
  );

  const links = await query<Record<string, unknown>>(
    dir,
    `SELECT to_url, kind, rel, hop_type, reason FROM outlinks
     WHERE to_url LIKE 'http://other.test%' ORDER BY to_url`,
  );
  assert.deepEqual(links, [
    {
      to_url: 'http://other.test/map.xml',
      kind: 'sitemap',
      rel: 'sitemap',
      hop_type: 'S',
      reason: 'sitemap_host',
    },
    {to_url: 'http://other.test/x', kind: 'sitemap', rel: null, hop_type: 'S', reason: 'sitemap_host'},
  ]);

  const rows = await query<Record<string, unknown>>(
    dir,
    `SELECT url, depth, seed, hop_type, sitemap_depth, discovered_from FROM crawldb
     WHERE hop_type = 'S' ORDER BY url`,
  );
  const seed = `${site}/`;
  const row = (path: string, depth: number, sitemap_depth: number | null, from: string) => ({
    url: site + path,
    depth,
    seed,
    hop_type: 'S',
    sitemap_depth,
    discovered_from: site + from,
  });
  assert.deepEqual(rows, [
    row('/1', 2, null, '/one.xml'),
    row('/3', 2, null, '/two.xml.gz'),
    row('/index.xml', 0, 0, '/robots.txt'),
    row('/one.xml', 1, 1, '/index.xml'),
    row('/private/2', 2, null, '/one.xml'),
    row('/two.xml.gz', 1, 1, '/index.xml'),
  ]);
  const [counts] = await query(dir, 'SELECT pages_fetched, urls FROM hoststats');
  assert.deepEqual(counts, {pages_fetched: 3, urls: 7}, 'sitemaps are URLs, but no pages');
  const errors = await query<{errors: string}>(
    dir,
    `SELECT errors FROM parse WHERE url = '${site}/two.xml.gz'`,
  );
  assert.match(String(errors[0]?.errors), /urlset: xml at line 1/, 'what is wrong with it is told');

  // Again, nothing changes; by hand, a text list.
  const again = await crawl(['sitemap', '-C', dir, ...flags]);
  assert.match(again.stderr, /sitemaps: 1 known already/);
  const added = await crawl(['sitemap', `${site}/list.txt`, 'no-url://x', '-C', dir, ...flags]);
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stderr, /sitemaps: 1 added, 1 rejected[\s\S]*rejected: scheme 1/);
  assert.equal((await crawl(['run', '--no-invertlinks', '-C', dir, ...flags])).code, 0);
  const [five] = await query(
    dir,
    `SELECT status, discovered_from, seed FROM crawldb WHERE url = '${site}/5'`,
  );
  assert.deepEqual(five, {status: 'fetched', discovered_from: `${site}/list.txt`, seed: `${site}/list.txt`});
});

test('a page is due sooner when its sitemap says that it changed; not by times of the future', async (t) => {
  const lastmods: Record<string, string> = {a: '2001-01-01', b: '2001-01-01', c: '2001-01-01'};
  const web = await serveWeb(t, (_host, path) =>
    path === '/map.xml'
      ? {
          headers: {'content-type': 'text/xml'},
          body: urlset(...Object.entries(lastmods).map(([name, time]) => [`${site}/${name}`, time] as const)),
        }
      : path === '/robots.txt'
        ? undefined
        : page(path),
  );
  const dir = join(await temporaryFolder(t), 'crawl');
  const flags = [
    ...web.flags,
    ...['storage.memory=256MB', 'schedule.min_interval=0s'].flatMap((setting) => ['--set', setting]),
  ];
  assert.equal((await crawl(['init', dir, ...flags])).code, 0);
  assert.equal((await crawl(['sitemap', `${site}/map.xml`, '-C', dir, ...flags])).code, 0);
  assert.equal((await crawl(['run', '--no-invertlinks', '-C', dir, ...flags])).code, 0);
  const due = `SELECT replace(url, '${site}/', '') AS name FROM crawldb
    WHERE next_fetch_time <= now() + INTERVAL 1 HOUR ORDER BY url`;
  assert.deepEqual(await query(dir, due), []);

  lastmods.a = new Date().toISOString();
  lastmods.b = new Date(Date.now() + 86_400_000).toISOString();
  const where = ['--add-days', '40', '--where', 'sitemap_depth IS NOT NULL'];
  assert.equal((await crawl(['generate', ...where, '-C', dir, ...flags])).code, 0);
  assert.equal((await crawl(['run', '--rounds', '1', '--no-invertlinks', '-C', dir, ...flags])).code, 0);
  const visits = await query<{name: string; visits: number}>(
    dir,
    `SELECT replace(url, '${site}/', '') AS name, visits FROM crawldb ORDER BY url`,
  );
  assert.deepEqual(visits, [
    {name: 'a', visits: 2},
    {name: 'b', visits: 1},
    {name: 'c', visits: 1},
    {name: 'map.xml', visits: 2},
  ]);
});

test('priority and changefreq of a sitemap count only where that is configured', async (t) => {
  const sitemap = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc>http://one.test/high</loc><priority>1.0</priority><changefreq>daily</changefreq></url>
    <url><loc>http://one.test/low</loc><priority>0</priority><changefreq>never</changefreq></url>
    <url><loc>http://one.test/plain</loc></url>
  </urlset>`;
  const web = await serveWeb(t, (_host, path) =>
    path === '/map.xml' ? {headers: {'content-type': 'application/xml'}, body: sitemap} : undefined,
  );
  const rowsWith = async (...flags: string[]) => {
    const dir = join(await temporaryFolder(t), 'crawl');
    assert.equal((await crawl(['init', dir])).code, 0);
    assert.equal((await crawl(['sitemap', '-C', dir, 'http://one.test/map.xml', ...web.flags])).code, 0);
    const {code, stderr} = await crawl(['run', '-C', dir, '--rounds', '1', ...web.flags, ...flags]);
    assert.equal(code, 0, stderr);
    return query<{url: string; score: number; fetch_interval_s: number}>(
      dir,
      `SELECT url, score, fetch_interval_s FROM crawldb WHERE sitemap_depth IS NULL ORDER BY url`,
    );
  };
  const day = 86_400;
  const plain = await rowsWith();
  assert.deepEqual(
    plain.map(({fetch_interval_s}) => fetch_interval_s),
    [30 * day, 30 * day, 30 * day],
  );
  assert.equal(new Set(plain.map(({score}) => score)).size, 1);
  const hinted = await rowsWith('--set', 'links.sitemap_hints=true');
  assert.deepEqual(
    hinted.map(({fetch_interval_s}) => fetch_interval_s),
    [day, 90 * day, 30 * day],
  );
  const [high, low, ordinary] = hinted.map(({score}) => score);
  assert.ok(high! > ordinary! && ordinary! > low! && low! > 0);
});
