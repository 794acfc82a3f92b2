import {randomBytes} from 'node:crypto';
import {
  constants,
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readFile,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {CrawlError, systemCode} from '../errors.ts';

/** Writing so that it survives a power cut, and so that of two writers one wins. */

/** Turns a system error of a write to `path` into ours; other errors come back as they are. */
export function writeError(error: unknown, path: string): unknown {
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new CrawlError('DISK_FULL', `no space left to write ${path}`, {facts: {path}, cause: error});
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return new CrawlError('NOT_WRITABLE', `cannot write ${path}`, {facts: {path}, cause: error});
    default:
      return error;
  }
}

/**
 * Makes a folder and those above it. Not by mkdir's own `recursive`, which never returns where a folder can't be made
 * though its parent is there, as below /proc (seen in Node 20.20.2).
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path || (await exists(parent))) throw error;
    await makeFolder(parent);
    await makeFolder(path);
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Makes the names in a folder durable. Windows cannot sync folders; errors there are ignored. */
export async function syncFolder(path: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, 'r');
    await handle.sync();
  } catch (error) {
    if (process.platform !== 'win32') throw error;
  } finally {
    await handle?.close();
  }
}

async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function temporaryName(path: string): string {
  return join(dirname(path), `.${randomBytes(8).toString('hex')}.tmp`);
}

/** Replaces a file as a whole: readers see the old content or the new. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await mkdir(dirname(path), {recursive: true});
    await writeSynced(temporary, content);
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw writeError(error, path);
  }
}

/**
 * True if this call created the file, false if it was there already: of two callers exactly one gets true.
 * The file is whole and durable when it appears, by link(2) of a synced temporary; on file systems without
 * hard links (vfat, exFAT) by an exclusive create, which a power cut can leave torn.
 */
export async function createIfAbsent(path: string, content: string | Uint8Array): Promise<boolean> {
  const folder = dirname(path);
  const temporary = temporaryName(path);
  try {
    await mkdir(folder, {recursive: true});
    await writeSynced(temporary, content);
    try {
      await link(temporary, path);
    } catch (error) {
      if (systemCode(error) === 'EEXIST') return false;
      if (!isWithoutLinks(error)) throw error;
      return await createExclusively(path, content);
    }
    await syncFolder(folder);
    return true;
  } catch (error) {
    throw writeError(error, path);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

async function createExclusively(path: string, content: string | Uint8Array): Promise<boolean> {
  try {
    await writeSynced(path, content);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
  await syncFolder(dirname(path));
  return true;
}

function isWithoutLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(systemCode(error) ?? '');
}

/** Gives a finished file a second name, durably: a hard link, or a copy where there are none. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    try {
      await link(from, to);
    } catch (error) {
      if (!isWithoutLinks(error)) throw error;
      await copyFile(from, to, constants.COPYFILE_EXCL);
      const handle = await open(to, 'r+');
      await handle.sync().finally(() => handle.close());
    }
    await syncFolder(dirname(to));
  } catch (error) {
    throw writeError(error, to);
  }
}

/** Whether the file system of a folder has hard links, tried with a file of our own. */
export async function hasLinks(folder: string): Promise<boolean> {
  const first = temporaryName(join(folder, 'probe'));
  const second = temporaryName(join(folder, 'probe'));
  try {
    await writeSynced(first, '');
    await link(first, second);
    return true;
  } catch (error) {
    if (isWithoutLinks(error)) return false;
    throw writeError(error, folder);
  } finally {
    await unlink(first).catch(() => undefined);
    await unlink(second).catch(() => undefined);
  }
}

/** Content of a file, or undefined where there is none. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
