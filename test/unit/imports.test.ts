import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, normalize, relative} from 'node:path';
import {test} from 'node:test';

/** The import rule: cli → jobs → lib, no job imports another job, no cycles, one file for each package. */
const root = join(import.meta.dirname, '../..');

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .sort();
}

const files = ['cli', 'jobs', 'lib'].flatMap(sources);
const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(root, from), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const found = [
    ...text.matchAll(/^\s*(?:import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'/gm),
    ...text.matchAll(/\bimport\(\s*()'([^']+)'\s*\)/g),
    ...text.matchAll(/^import ()'([^']+)'/gm),
  ];
  return found.map((match) => ({
    from,
    to: match[2]!.startsWith('.') ? normalize(join(dirname(from), match[2]!)) : match[2]!,
    typeOnly: match[1] !== undefined && match[1] !== '',
  }));
});
const inside = imports.filter((one) => /^(cli|jobs|lib)\//.test(one.to));

test('every import inside the project names a file that is there', () => {
  const known = new Set(files);
  assert.deepEqual(
    inside.filter((one) => one.to.endsWith('.ts') && !known.has(one.to)),
    [],
  );
  assert.ok(inside.length > 50, 'the imports were read');
});

test('imports go from cli to jobs to lib, never back', () => {
  const rank: Record<string, number> = {cli: 2, jobs: 1, lib: 0};
  const folder = (path: string): number => rank[path.split('/')[0]!]!;
  assert.deepEqual(
    inside.filter((one) => folder(one.from) < folder(one.to)),
    [],
  );
});

test('no job imports another job, nor what belongs to one', () => {
  /** What jobs share: the shape, and the real effects. */
  const shared = new Set(['job', 'effects']);
  const jobs = new Set(
    files
      .flatMap((path) => /^jobs\/([a-z-]+)\.ts$/.exec(path)?.[1] ?? [])
      .filter((name) => !shared.has(name)),
  );
  // `jobs/fetch/…` belongs to the job fetch; folders without a job of their name are subjects that jobs share
  const owner = (path: string): string | undefined => {
    const name = /^jobs\/([a-z-]+)/.exec(path)?.[1];
    return name !== undefined && jobs.has(name) ? name : undefined;
  };
  const wrong = inside.filter((one) => {
    const [from, to] = [owner(one.from), owner(one.to)];
    return to !== undefined && from !== to && one.from.startsWith('jobs/');
  });
  assert.deepEqual(wrong, []);
  assert.ok(jobs.size > 0);
});

test('subjects of lib that decide do not touch the edges', () => {
  const edges = /^lib\/(store|http|fetcher|demo)\//;
  const allowed = /^lib\/(store\/manifest-types|http\/exchange|http\/http-date|http\/retry-after)\.ts$/;
  const wrong = inside.filter(
    (one) =>
      one.from.startsWith('lib/') &&
      !edges.test(one.from) &&
      edges.test(one.to) &&
      !allowed.test(one.to) &&
      !one.typeOnly,
  );
  assert.deepEqual(wrong, []);
});

test('there are no cycles', () => {
  const graph = new Map<string, string[]>();
  for (const one of inside) if (!one.typeOnly) graph.set(one.from, [...(graph.get(one.from) ?? []), one.to]);
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    assert.equal(at, -1, `cycle: ${[...trail.slice(at), path].join(' → ')}`);
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of files) visit(path, []);
});

test('a package is imported in one file', () => {
  const owners = new Map<string, Set<string>>();
  for (const one of imports) {
    if (
      one.typeOnly ||
      one.to.startsWith('.') ||
      one.to.startsWith('node:') ||
      /^(cli|jobs|lib)\//.test(one.to)
    )
      continue;
    const name = one.to
      .split('/')
      .slice(0, one.to.startsWith('@') ? 2 : 1)
      .join('/');
    owners.set(name, (owners.get(name) ?? new Set()).add(one.from));
  }
  /** Packages whose types cross a boundary, with the reason. */
  const shared: Record<string, string> = {
    'apache-arrow': 'one file writes the journal, one reads it',
    htmlparser2: 'every page by its tokenizer; trees and events for extractors by its parser',
  };
  const wrong = [...owners]
    .filter(([name, from]) => from.size > 1 && shared[name] === undefined)
    .map(([name, from]) => `${name}: ${[...from].map((path) => relative('.', path)).join(', ')}`);
  assert.deepEqual(wrong, []);
});
