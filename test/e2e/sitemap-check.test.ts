import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {crawl} from '../support/command.ts';
import {serveWeb} from '../support/served-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const urlset = (...locs: string[]) =>
  `<urlset>${locs.map((loc) => `<url><loc>${loc}</loc></url>`).join('')}</urlset>`;

test('check sitemap asks for a URL as a crawl would', async (t) => {
  const cwd = await temporaryFolder(t);
  const web = await serveWeb(t, (host, path) => {
    if (path === '/robots.txt')
      return {headers: {'content-type': 'text/plain'}, body: 'User-agent: *\nDisallow: /no'};
    if (path === '/moved.xml') return {status: 301, headers: {location: '/sitemap.xml.gz'}};
    if (path === '/away.xml') return {status: 302, headers: {location: 'http://other.example/sitemap.xml'}};
    if (path === '/sitemap.xml.gz')
      return {
        headers: {'content-type': 'application/gzip'},
        body: gzipSync(urlset(`http://${host}/a`, 'http://foreign.example/b')),
      };
    if (path === '/latin1.txt')
      return {
        headers: {'content-type': 'text/plain; charset=iso-8859-1'},
        body: Buffer.from(`http://${host}/caf\xe9\n`, 'latin1'),
      };
    return undefined;
  });
  const check = (...args: string[]) => crawl(['check', 'sitemap', ...web.flags, ...args], {cwd});

  const moved = await check('http://www.example.org/moved.xml');
  assert.equal(
    moved.stdout,
    [
      'http://www.example.org/moved.xml',
      '  urlset, 2 entries, 0 problems',
      '  1:9  http://www.example.org/a',
      '  1:55  http://foreign.example/b  sitemap_host',
      '',
    ].join('\n'),
  );
  assert.deepEqual(
    web.seen.map(({path}) => path),
    ['/robots.txt', '/moved.xml', '/sitemap.xml.gz'],
  );

  const latin1 = await check('--json', 'http://www.example.org/latin1.txt');
  const {url, entries} = JSON.parse(latin1.stdout) as {url: string; entries: {loc: string}[]};
  assert.equal(url, 'http://www.example.org/latin1.txt');
  assert.deepEqual(
    entries.map(({loc}) => loc),
    ['http://www.example.org/caf%C3%A9'],
  );

  for (const [path, words] of [
    ['/no.xml', 'robots_denied: line 2: Disallow: /no'],
    ['/absent.xml', 'http_404'],
    ['/away.xml', 'redirect: to http://other.example/sitemap.xml'],
  ] as const) {
    const {code, stderr} = await check(`http://www.example.org${path}`);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`${path} cannot be read: ${words}`));
  }
  assert.ok(!web.seen.some(({path}) => path === '/no.xml'), 'what robots.txt forbids is not asked for');

  const before = web.seen.length;
  const flags = web.flags.filter((flag) => flag !== '--contact' && flag !== 'test@example.org');
  const shy = flags.map((flag) =>
    flag.replace(/^network\.connect_to=.*/, 'network.connect_to=*:1=127.0.0.1:1'),
  );
  const {code, stderr} = await crawl(['check', 'sitemap', ...shy, 'http://www.example.org/a.xml'], {cwd});
  assert.equal(code, 2);
  assert.match(stderr, /agent\.contact is not set/);
  assert.equal(web.seen.length, before);
});

test('check sitemap holds the entries of a file against the URL it is said to have', async (t) => {
  const cwd = await temporaryFolder(t);
  writeFileSync(join(cwd, 'sitemap.xml'), urlset('https://example.org/a', 'https://example.com/b'));
  const {stdout} = await crawl(['check', 'sitemap', 'sitemap.xml', '--url', 'https://example.org/s.xml'], {
    cwd,
  });
  assert.match(stdout, /example\.org\/a\n.*example\.com\/b {2}sitemap_host\n/);
  const bad = await crawl(['check', 'sitemap', 'sitemap.xml', '--url', 's.xml'], {cwd});
  assert.equal(bad.code, 2);
  assert.match(bad.stderr, /"url" must be an absolute URL/);
});

test('bytes that are no base64 are no question', async (t) => {
  const cwd = await temporaryFolder(t);
  for (const [kind, question] of [
    ['robots', {robots_base64: '#?', url: 'http://example.org/'}],
    ['sitemap', {sitemap_base64: '#?'}],
    ['sitemap', {sitemap: '', url: 'not absolute'}],
  ] as const) {
    const {code, stdout} = await crawl(['check', kind, '--jsonl'], {
      cwd,
      stdin: `${JSON.stringify(question)}\n`,
    });
    assert.equal(code, 6);
    assert.match(stdout, /^\{"error":"\\"\w+\\" must be (?:base64|an absolute URL)"\}\n$/);
  }
});
