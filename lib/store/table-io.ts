import {createHash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import {open, stat} from 'node:fs/promises';
import {CrawlError, systemCode} from '../errors.ts';
import {writeError} from './durable.ts';

/** An error of the file system as a CrawlError that names the file; other errors come back as they are. */
export function fileError(error: unknown, path: string): unknown {
  return systemCode(error) === 'ENOENT'
    ? new CrawlError('FILE_MISSING', `no such file: ${path}`, {facts: {path}, cause: error})
    : writeError(error, path);
}

/** Makes the bytes of a file durable that something else has written. */
export async function syncFile(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Size of a file, bytes. */
export async function fileSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Size and SHA-256 (hex) of a file, read in pieces. */
export async function fileDigest(path: string): Promise<{bytes: number; sha256: string}> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const piece of createReadStream(path, {highWaterMark: 1 << 20})) {
      hash.update(piece as Buffer); // without encoding the stream yields Buffers
      bytes += (piece as Buffer).length;
    }
  } catch (error) {
    throw fileError(error, path);
  }
  return {bytes, sha256: hash.digest('hex')};
}
