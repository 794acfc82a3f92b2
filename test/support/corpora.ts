import {existsSync} from 'node:fs';
import {join} from 'node:path';

const root = process.env.CRAWL_TEST_CORPORA ?? join(import.meta.dirname, '../../../shared/data');

/** Path of a corpus file or folder, or undefined where the corpora are not on this machine. */
export function corpus(path: string): string | undefined {
  const full = join(root, path);
  return existsSync(full) ? full : undefined;
}

/** For `test(name, {skip: withoutCorpus('robots')}, …)`: says why the test is skipped. Never skips where CRAWL_TEST_REQUIRE_ALL is set. */
export function withoutCorpus(path: string): string | false {
  if (corpus(path) !== undefined) return false;
  if (process.env.CRAWL_TEST_REQUIRE_ALL)
    throw new Error(`corpus ${path} is required and missing below ${root}`);
  return `corpus ${path} is not on this machine`;
}
