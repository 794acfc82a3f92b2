import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl, query} from '../support/command.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {serveWeb} from '../support/served-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('real pages: each is found, and each capture’s bytes are the file’s', {
  skip: withoutCorpus('pages/INDEX.jsonl'),
}, async (t) => {
  const files = readFileSync(corpus('pages/INDEX.jsonl')!, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as {file: string}).file)
    .filter((file) => file.startsWith('pages/'));
  const bodies = new Map(
    files.map((file) => [
      `/${file.split('/').map(encodeURIComponent).join('/')}`,
      readFileSync(corpus(file)!),
    ]),
  );
  const index = [...bodies.keys()].map((path) => `<li><a href="${path}">${path}</a>`).join('\n');
  const web = await serveWeb(t, (_host, path) => {
    if (path === '/') return `<title>Index</title><ul>${index}</ul>`;
    const body = bodies.get(path);
    // The bytes as they are, with no charset in the header, so that each page has to be read by its own word
    return body === undefined ? undefined : {body};
  });
  const dir = join(await temporaryFolder(t), 'crawl');
  const {code, stderr} = await crawl([
    'run',
    '-C',
    dir,
    ...web.flags,
    '--set',
    'scope.otherwise=reject',
    '--set',
    'scope.rules=+ host pages.test',
    '--set',
    'links.max_per_page=10000',
    // Nearly all that these pages link to is missing here: a host of so low a yield would be asked for 50 URLs a round
    '--set',
    'budget.yield=false',
    'http://pages.test/',
  ]);
  assert.equal(code, 0, stderr);
  const captures = await query<{url: string; content_sha256: string; content_length: string}>(
    dir,
    `SELECT url, content_sha256, content_length FROM captures WHERE kind = 'page' AND status = 'success' AND url <> 'http://pages.test/'`,
  );
  const found = new Map(captures.map((row) => [new URL(row.url).pathname, row]));
  for (const [path, body] of bodies) {
    const row = found.get(new URL(path, 'http://pages.test/').pathname);
    assert.ok(row, `${path} was found`);
    assert.equal(row.content_sha256, sha256(body), path);
  }
  const stored = await query<{n: number}>(
    dir,
    `SELECT count(*) AS n FROM content WHERE sha256(payload) <> content_sha256 OR octet_length(payload) <> content_length`,
  );
  assert.deepEqual(stored, [{n: 0}], 'what is stored is what the digests say');
  assert.ok(!web.seen.some(({host}) => host !== 'pages.test'), 'nobody else was asked');
  const failed = await query(dir, `SELECT url, reason, errors FROM parse WHERE status = 'failed'`);
  assert.deepEqual(failed, [], 'every page was read');
});

interface Graph {
  readonly nodes: readonly number[];
  readonly edges: readonly (readonly [from: number, to: number])[];
}

function readGml(path: string): Graph {
  const text = readFileSync(path, 'latin1');
  return {
    nodes: [...text.matchAll(/\bid (\d+)/g)].map((match) => Number(match[1])),
    edges: [...text.matchAll(/\bsource (\d+)\s+target (\d+)/g)].map(
      (match) => [Number(match[1]), Number(match[2])] as const,
    ),
  };
}

/** Everything that can be reached from `from` along the edges. */
function reachable(targets: ReadonlyMap<number, readonly number[]>, from: Iterable<number>): Set<number> {
  const seen = new Set(from);
  for (const node of seen) for (const target of targets.get(node) ?? []) seen.add(target);
  return seen;
}

test('a real link graph: every page is found, and the linkdb is the graph', {
  skip: withoutCorpus('graph/polblogs.gml'),
}, async (t) => {
  const {nodes, edges} = readGml(corpus('graph/polblogs.gml')!);
  assert.equal(nodes.length, 1490);
  const urlOf = (node: number): string => `http://h${node % 400}.test/blog/${node}`;
  const targets = new Map<number, number[]>();
  for (const [from, to] of edges) targets.set(from, [...(targets.get(from) ?? []), to]);
  const withInlinks = new Set(edges.map(([, to]) => to));
  const seeds = nodes.filter((node) => !withInlinks.has(node));
  let found = reachable(targets, seeds);
  for (const node of nodes)
    if (!found.has(node)) {
      seeds.push(node);
      found = reachable(targets, seeds);
    }
  assert.equal(found.size, nodes.length);

  const web = await serveWeb(t, (host, path) => {
    const node = Number(/^\/blog\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
    if (urlOf(node) !== `http://${host}${path}`) return undefined;
    const links = (targets.get(node) ?? []).map((to) => `<a href="${urlOf(to)}">blog ${to}</a>`).join('\n');
    return `<title>Blog ${node}</title><p>This is blog ${node}.</p>${links}`;
  });
  const dir = join(await temporaryFolder(t), 'crawl');
  const {code, stderr} = await crawl([
    'run',
    '-C',
    dir,
    ...web.flags,
    '--set',
    'politeness.max_per_domain=64',
    '--set',
    'politeness.max_per_ip=64',
    ...seeds.map(urlOf),
  ]);
  assert.equal(code, 0, stderr);

  const pages = await query<{url: string}>(
    dir,
    `SELECT url FROM captures WHERE kind = 'page' AND status = 'success'`,
  );
  assert.deepEqual(pages.map(({url}) => url).sort(), nodes.map(urlOf).sort(), 'each page once');
  const counts = new Map<string, number>();
  for (const [from, to] of edges) {
    const edge = `${urlOf(from)} ${urlOf(to)}`;
    counts.set(edge, (counts.get(edge) ?? 0) + 1);
  }
  const links = await query<{source_url: string; target_url: string; links: number}>(
    dir,
    'SELECT source_url, target_url, links FROM linkdb',
  );
  assert.deepEqual(
    links.map(({source_url, target_url, links: n}) => `${source_url} ${target_url} ${n}`).sort(),
    [...counts].map(([edge, n]) => `${edge} ${n}`).sort(),
  );
  const inlinks = await query<{url: string; inlinks: number}>(
    dir,
    'SELECT url, inlinks FROM crawldb WHERE inlinks > 0',
  );
  const expected = new Map<string, number>();
  for (const edge of counts.keys()) {
    const target = edge.split(' ')[1]!;
    expected.set(target, (expected.get(target) ?? 0) + 1);
  }
  assert.deepEqual(new Map(inlinks.map(({url, inlinks: n}) => [url, n])), expected);
});
