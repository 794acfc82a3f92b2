import assert from 'node:assert/strict';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl, query} from '../support/command.ts';
import {serveWeb} from '../support/served-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

test('a mirror whose bodies hold relative links: none of the copies’ links is asked for', async (t) => {
  const page = (title: string, links: string[]): string =>
    `<title>${title}</title><h1>${title}</h1>${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}`;
  const pages: Record<string, string> = {
    '/': page('Home', ['a/', 'b/']),
    '/a/': page('A', ['one', 'two', '../b/']),
    '/a/one': page('One', ['two']),
    '/a/two': page('Two', ['one']),
    '/b/': page('B', ['three']),
    '/b/three': page('Three', ['../']),
  };
  const web = await serveWeb(t, (_host, path) => pages[path]);
  const dir = join(await temporaryFolder(t), 'crawl');
  const {code, stderr} = await crawl([
    'run',
    '-C',
    dir,
    ...web.flags,
    'http://original.test/',
    'http://mirror-of-original.test/',
  ]);
  assert.equal(code, 0, stderr);
  const asked = (host: string): string[] =>
    web.seen
      .filter((request) => request.host === host)
      .map((request) => request.path)
      .sort();
  assert.deepEqual(asked('original.test'), [
    '/',
    '/a/',
    '/a/one',
    '/a/two',
    '/b/',
    '/b/three',
    '/robots.txt',
  ]);
  assert.deepEqual(asked('mirror-of-original.test'), ['/', '/robots.txt']);
  assert.deepEqual(await query(dir, `SELECT url, duplicate_of FROM crawldb WHERE status = 'duplicate'`), [
    {url: 'http://mirror-of-original.test/', duplicate_of: 'http://original.test/'},
  ]);
});
