import assert from 'node:assert/strict';
import {once} from 'node:events';
import {rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {reasonFacts} from '../../lib/schema/reason.ts';
import {takeLocks} from '../../lib/store/lock.ts';
import {crawl, temporaryFolder} from '../support/cli.ts';

/** A site of three pages, a redirect, a page that is gone and one that robots.txt forbids. */
async function site(t: TestContext): Promise<string> {
  const links = (...hrefs: string[]) => hrefs.map((href) => `<a href="${href}">to ${href}</a>`).join('\n');
  const page = (title: string, ...hrefs: string[]) =>
    `<!doctype html><html lang=en><title>${title}</title><body><h1>${title}</h1><p>Text of ${title}.</p>${links(...hrefs)}</body></html>`;
  const pages: Record<string, string> = {
    '/': page('Home', '/a', '/b?utm_source=x', '/old', '/private/x', 'mailto:me@example.org'),
    '/a': page('A', '/', '/b', '/gone'),
    '/b': page('B', '/'),
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const body = pages[path];
    if (path === '/robots.txt') response.end('User-agent: *\nDisallow: /private/\n');
    else if (path === '/old') response.writeHead(301, {Location: '/a'}).end();
    else if (body === undefined) response.writeHead(404).end('no');
    else response.writeHead(200, {'Content-Type': 'text/html; charset=utf-8'}).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const settings = [
  'network.allow=127.0.0.0/8',
  'politeness.min_delay=1ms',
  'politeness.latency_factor=0',
].flatMap((setting) => ['--set', setting]);

test('a round by hand: what each command says, and that each may be repeated', async (t) => {
  const origin = await site(t);
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init', ...settings]);
  writeFileSync(join(cwd, 'seeds.txt'), `# seeds\n${origin}/\tscore=2\nnonsense\n`);

  const empty = await crawl(cwd, ['generate']);
  assert.deepEqual([empty.code, empty.stdout], [3, '']);
  const injected = await crawl(cwd, ['inject', 'seeds.txt']);
  assert.equal(injected.code, 0);
  assert.match(injected.stderr, /2 seeds: 1 added, 1 rejected .*; next: crawl generate/);
  assert.match(injected.stderr, /rejected: url_invalid 1/);
  assert.match((await crawl(cwd, ['inject', `${origin}/`])).stderr, /1 seed: 1 known already/);

  const generated = await crawl(cwd, ['generate']);
  assert.match(generated.stdout, /^\d{14}\n$/);
  const segment = generated.stdout.trim();
  assert.match(generated.stderr, new RegExp(`segment ${segment}: 1 URL of 1 host .*; next: crawl fetch`));
  assert.equal((await crawl(cwd, ['generate'])).code, 3, 'its URLs are locked');
  assert.match((await crawl(cwd, ['status'])).stdout, /1 segment, 1 open[\s\S]*next: crawl fetch/);
  assert.match((await crawl(cwd, ['explain', `${origin}/`])).stdout, /Selected for segment \d+/);

  const fetched = await crawl(cwd, ['fetch']);
  assert.equal(fetched.code, 0, fetched.stderr);
  assert.match(fetched.stderr, new RegExp(`segment ${segment}: 1 fetched`));
  assert.match(fetched.stderr, /parsed 1 page, \d links/);
  assert.deepEqual(fetched.stderr.match(/next: .*/g), ['next: crawl updatedb'], 'it parses by itself');
  assert.match((await crawl(cwd, ['fetch'])).stderr, /no segment waits to be fetched/);
  assert.match((await crawl(cwd, ['drop', segment])).stderr, /dropping it loses its captures/);
  assert.match((await crawl(cwd, ['explain', `${origin}/a`])).stdout, /not applied; next: crawl updatedb/);

  const updated = await crawl(cwd, ['updatedb']);
  assert.match(updated.stderr, /crawldb: 4 new URLs, 1 updated .*; next: crawl invertlinks/);
  assert.match((await crawl(cwd, ['updatedb'])).stderr, /nothing to apply/);
  assert.match((await crawl(cwd, ['invertlinks'])).stderr, /linkdb: 4 links.*; next: crawl generate/);
  assert.equal((await crawl(cwd, ['parse', '--all', '--as', 'again'])).code, 0);
  assert.equal((await crawl(cwd, ['parse', '--use', 'again'])).code, 0);
  const status = (await crawl(cwd, ['status'])).stdout;
  assert.match(
    status,
    /1 segment, 0 open[\s\S]*reparsed[\s\S]*next: crawl updatedb \(of a segment another parse/,
  );
  assert.equal((await crawl(cwd, ['updatedb'])).code, 0);
  assert.match((await crawl(cwd, ['invertlinks'])).stderr, /linkdb: 4 links \(unchanged\)/);

  const again = await crawl(cwd, ['generate', '--top-n', '1', '--where', `url = '${origin}/a'`]);
  assert.match(again.stderr, /: 1 request, /);
  const closed = again.stdout.trim();
  assert.equal((await crawl(cwd, ['fetch', '--close', closed])).code, 0);
  assert.equal((await crawl(cwd, ['updatedb'])).code, 0);
  assert.match(
    (await crawl(cwd, ['explain', `${origin}/a`])).stdout,
    new RegExp(`Not fetched yet: it is due, and ended as skipped in segment ${closed}: closed`),
  );
});

test('crawl run: from nothing to the end, then the questions that people ask', async (t) => {
  const origin = await site(t);
  const cwd = temporaryFolder(t);
  const dir = join(cwd, 'new');
  const ran = await crawl(cwd, ['run', '-C', 'new', `${origin}/`, ...settings]);
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stderr, /made a crawl in .*new/);
  assert.match(ran.stderr, /round 1, segment \d{14}: 1 fetched; 4 new URLs, 1 updated/);
  assert.match(ran.stderr, /3 rounds done; nothing more to fetch now/);
  assert.equal((await crawl(dir, ['run'])).code, 3, 'nothing is due any more');
  const refused = await crawl(cwd, ['run', '-C', 'refused', `${origin}/`, '--set', 'network.allow=::1/128']);
  assert.match(refused.stderr, /round 1, segment \d{14}: 1 gone; reasons: address_refused 1; 1 updated/);
  writeFileSync(join(dir, 'STOP'), '');
  writeFileSync(join(dir, 'again.txt'), `${origin}/a\n`);
  const segment = (await crawl(dir, ['freegen', 'again.txt'])).stdout.trim();
  assert.match(segment, /^\d{14}$/);
  assert.equal((await crawl(dir, ['run'])).code, 5);
  assert.match((await crawl(dir, ['status'])).stdout, /next: crawl fetch/, 'a round that waits is not begun');
  rmSync(join(dir, 'STOP'));
  const full = await crawl(dir, ['run', '--set', 'storage.min_free=900TB']);
  assert.equal(full.code, 5);
  assert.match(
    full.stderr,
    /stopped: less free space than storage\.min_free[\s\S]*0 rounds done; next: crawl fetch/,
  );
  assert.equal((await crawl(dir, ['drop', '--force', segment])).code, 0);

  const statuses = await crawl(dir, [
    'sql',
    '--format',
    'csv',
    'SELECT status, reason, count(*) AS n FROM crawldb GROUP BY ALL ORDER BY ALL',
  ]);
  assert.equal(
    statuses.stdout,
    'status,reason,n\nfetched,,3\ngone,http_404,1\ngone,robots_denied,1\nredir_perm,redirect,1\n',
  );

  const cat = await crawl(dir, ['cat', `${origin}/b?utm_campaign=z#x`]);
  assert.match(cat.stdout, /^<!doctype html>.*<title>B<\/title>/);
  assert.match(
    (await crawl(dir, ['cat', '--headers', `${origin}/b`])).stdout,
    /^GET \/b HTTP\/1\.1\r\n[\s\S]*\r\n\r\nHTTP\/1\.1 200 OK\r\n/,
  );
  assert.match((await crawl(dir, ['cat', '--text', `${origin}/b`])).stdout, /Text of B\./);
  assert.match((await crawl(dir, ['cat', `${origin}/old`])).stderr, /redirects to .*\/a\n.*crawl cat .*\/a/);
  const never = await crawl(dir, ['cat', `${origin}/never`]);
  assert.deepEqual([never.code, never.stdout], [2, '']);
  assert.match(
    (await crawl(dir, ['cat', '--raw', '--text', `${origin}/b`])).stderr,
    /only one of --raw, --text/,
  );

  const explain = async (url: string) => (await crawl(dir, ['explain', url])).stdout;
  assert.match(
    await explain(`${origin}/b`),
    /Fetched; it is due again in[\s\S]*links to it +2 links, 2 accepted/,
  );
  const gone = await explain(`${origin}/gone`);
  assert.match(gone, /Gone: http_404/);
  assert.equal(
    gone.split(reasonFacts('http_404').doc.replace(/\.$/, '')).length,
    2,
    'a reason is explained once',
  );
  assert.match(gone, /may be asked now/);
  assert.match(
    await explain(`${origin}/private/x`),
    /robots_denied[\s\S]*forbidden \(line 2: Disallow: \/private\/\)/,
  );
  assert.doesNotMatch(await explain(`${origin}/b`), /score 0\.\d{5}/);
  assert.match(await explain('mailto:me@example.org'), /each of 1 link to it was rejected, scheme/);
  assert.match(await explain('https://example.org/'), /Never seen/);
  assert.match(await explain('http://'), /cannot be crawled: url_invalid/);
  assert.match(await explain('a.test'), /cannot be crawled: url_invalid .*; a URL begins with https:/);
  const json = JSON.parse((await crawl(dir, ['explain', '--json', `${origin}/b`])).stdout) as {
    answer: string;
    row: {status: string};
  };
  assert.equal(json.row.status, 'fetched');

  const status = JSON.parse((await crawl(dir, ['status', '--json'])).stdout) as {
    summary: Record<string, number>;
    segments: {stage: string}[];
  };
  assert.equal(status.summary.urls, 6);
  assert.deepEqual(
    status.segments.map(({stage}) => stage),
    ['inverted', 'inverted', 'inverted'],
  );
});

test('exit code 4 while another command holds the crawldb', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  const held = await takeLocks(cwd, ['crawldb'], 'updatedb', {now: () => Date.now(), log: () => undefined});
  const {code, stderr} = await crawl(cwd, ['inject', 'https://example.org/']);
  assert.match((await crawl(cwd, ['status'])).stdout, /updatedb holds crawldb \(pid \d+/);
  await held.release();
  assert.equal(code, 4);
  assert.match(stderr, /crawldb/);
  assert.equal((await crawl(cwd, ['inject', 'https://example.org/'])).code, 0);
});

test('a fetch without contact leaves this machine alone; a dry run does nothing', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  const dry = await crawl(cwd, ['inject', '--dry-run', 'https://example.org/']);
  assert.deepEqual(Object.keys(JSON.parse(dry.stdout) as object).slice(0, 2), ['base', 'now']);
  assert.equal((await crawl(cwd, ['generate', '--dry-run'])).code, 3, 'nothing is due');
  await crawl(cwd, ['inject', 'https://example.org/']);
  assert.equal((await crawl(cwd, ['generate', '--dry-run'])).code, 0);
  const {stdout} = await crawl(cwd, ['generate', '--json']);
  const {segment} = JSON.parse(stdout) as {segment: string};
  const refused = await crawl(cwd, ['fetch', '--json']);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /"code":"CONTACT_MISSING"/);
  const dropped = await crawl(cwd, ['drop', segment]);
  assert.match(dropped.stderr, new RegExp(`dropped ${segment}`));
  assert.match((await crawl(cwd, ['generate'])).stdout, /^\d{14}\n$/, 'its URL may be selected again');
});
