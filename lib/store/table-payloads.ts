import {type ContentRow, content} from '../schema/content.ts';
import {TableReader} from './parquet-read.ts';

/**
 * The payloads with the given digests (SHA-256, hex), each once, in the order in which they lie in the files.
 * Reads the column of digests, then of each hit the pages that hold it: memory is a few pages and one group's
 * digests, whatever the size of the files. What is not there is not in the answer.
 */
export async function* readPayloads(
  paths: readonly string[],
  digests: Iterable<string>,
): AsyncGenerator<ContentRow> {
  const wanted = new Set(digests);
  for (const path of paths) {
    if (wanted.size === 0) return;
    const reader = await TableReader.open(content, path);
    try {
      for (const group of reader.groups) {
        const rows = await reader.rows(group.index, {columns: ['content_sha256']});
        for (const [at, {content_sha256}] of rows.entries())
          if (wanted.delete(content_sha256)) yield* await reader.rows(group.index, {from: at, to: at + 1});
        if (wanted.size === 0) return;
      }
    } finally {
      reader.close();
    }
  }
}
