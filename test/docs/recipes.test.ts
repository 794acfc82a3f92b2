import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl, query} from '../support/command.ts';
import {serveWeb} from '../support/served-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const folder = join(import.meta.dirname, '../../docs/recipes');

test('each recipe runs on a crawl and answers its question', async (t) => {
  const many = ['/1', '/2', '/3', '/4', '/5', '/6'];
  const pages: Record<string, string> = {
    ...Object.fromEntries(many.map((path) => [path, `<title>Page ${path}</title><p>The page ${path}.</p>`])),
    '/':
      '<title>Home</title><a href="/a">A</a> <a href="/copy">Copy</a> <a href="/none">None</a> <a href="/old">Old</a> <a href="mailto:x@example.org">mail</a>' +
      many.map((path) => `<a href="http://two.test${path}">${path}</a>`).join(' '),
    '/a': '<title>A</title><p>The same words on two pages of this site.</p>',
    '/copy': '<title>A</title><p>The same words on two pages of this site.</p>',
  };
  const web = await serveWeb(t, (_host, path) =>
    path === '/old' ? {status: 301, headers: {location: '/a'}} : pages[path],
  );
  const dir = join(await temporaryFolder(t), 'crawl');
  const {code, stderr} = await crawl([
    'run',
    '-C',
    dir,
    ...web.flags,
    '--set',
    'budget.max_urls_per_host=5',
    'http://one.test/',
  ]);
  assert.equal(code, 0, stderr);
  const rows: Record<string, Record<string, unknown>[]> = {};
  for (const name of readdirSync(folder)) {
    const sql = readFileSync(join(folder, name), 'utf8');
    assert.match(sql, /^-- \S.*\.\n/, `${name} begins with what it asks`);
    rows[name] = await query(dir, sql);
    assert.ok(rows[name].length > 0, `${name} answers`);
  }
  assert.deepEqual(
    rows['broken-links.sql']!.map(({target, source_url}) => [target, source_url]),
    [['http://one.test/none', 'http://one.test/']],
  );
  assert.deepEqual(
    rows['duplicates.sql']!.map(({kept, copies}) => [kept, copies]),
    [['http://one.test/a', 1]],
  );
  assert.deepEqual(
    rows['redirects.sql']!.map(({url, target, target_status}) => [url, target, target_status]),
    [['http://one.test/old', 'http://one.test/a', 'fetched']],
  );
  assert.deepEqual(
    rows['refused-urls.sql']!.map(({host, reason, urls}) => [host, reason, urls]),
    [['two.test', 'over_budget', 1]],
  );
  assert.ok(rows['rejected-links.sql']!.some(({reason}) => reason === 'scheme'));
});
