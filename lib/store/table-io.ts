import {createHash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import {open} from 'node:fs/promises';
import {CrawlError, type ErrorCode, systemCode} from '../errors.ts';

const codes: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
  EROFS: 'NOT_WRITABLE',
  EACCES: 'NOT_WRITABLE',
  EPERM: 'NOT_WRITABLE',
  ENOENT: 'FILE_MISSING',
};

const sentences: Partial<Record<ErrorCode, string>> = {
  DISK_FULL: 'no space left for',
  NOT_WRITABLE: 'not allowed to write',
  FILE_MISSING: 'no such file:',
};

/** An error of the file system as a CrawlError that names the file; other errors come back as they are. */
export function fileError(error: unknown, path: string): unknown {
  const code = codes[systemCode(error) ?? ''];
  return code === undefined
    ? error
    : new CrawlError(code, `${sentences[code]} ${path}`, {facts: {path}, cause: error});
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Windows has no fsync of folders; there the file system journals names itself.
    if (process.platform !== 'win32') throw fileError(error, path);
  }
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
