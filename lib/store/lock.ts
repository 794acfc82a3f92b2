import {randomBytes} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {readFile, rename, stat, unlink, utimes} from 'node:fs/promises';
import {hostname} from 'node:os';
import {join} from 'node:path';
import type {Log} from '../effects.ts';
import {CrawlError, systemCode} from '../errors.ts';
import {createIfAbsent, readIfThere} from './durable.ts';

/**
 * Locks of resources (`crawldb`, `fetching`, `segment:ID`), one small file each, with an owner and a heartbeat.
 * They keep two commands from doing the same work and hosts from being asked by two fetches; what is written is
 * kept right by slot versions, never by locks.
 */
const heartbeatMs = 5_000; // chosen: twelve beats within the time that makes a lock stale
const staleMs = 60_000;

export interface LockOwner {
  readonly resource: string;
  readonly command: string;
  readonly pid: number;
  /** Start of the process in clock ticks since boot; null where the system does not tell. */
  readonly process_start: string | null;
  readonly boot_id: string | null;
  readonly host: string;
  readonly taken_time: string;
  readonly nonce: string;
}

export interface HeldLocks {
  release(): Promise<void>;
}

function lockPath(dir: string, resource: string): string {
  return join(dir, 'tmp', 'locks', `${resource.replaceAll(':', '-')}.json`);
}

function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null; // not Linux: the heartbeat decides
  }
}

/** Start time of a process, or null where there is no such process or no /proc. */
function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null; // field 22; the name before may hold spaces
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/** This process, as a lock or a run names its owner. */
export function thisOwner(resource: string, command: string, now: number): LockOwner {
  return {
    resource,
    command,
    pid: process.pid,
    process_start: processStart(process.pid),
    boot_id: bootId(),
    host: hostname(),
    taken_time: new Date(now).toISOString(),
    nonce: randomBytes(8).toString('hex'),
  };
}

/**
 * Whether an owner is gone: on this boot of this host if its process is, elsewhere if its heartbeat is a minute old.
 * A host name beside the boot id, since containers share the boot id and not the process ids.
 */
export function isDead(owner: LockOwner, heartbeatAgeMs: number): boolean {
  const here = owner.boot_id !== null && owner.boot_id === bootId() && owner.host === hostname();
  if (!here) return heartbeatAgeMs > staleMs;
  return (
    !isAlive(owner.pid) || (owner.process_start !== null && processStart(owner.pid) !== owner.process_start)
  );
}

async function readOwner(path: string): Promise<{owner: LockOwner; ageMs: number} | undefined> {
  const content = await readIfThere(path);
  if (content === undefined) return undefined;
  try {
    const {mtimeMs} = await stat(path);
    return {owner: JSON.parse(content.toString('utf8')) as LockOwner, ageMs: Date.now() - mtimeMs};
  } catch {
    return undefined; // gone meanwhile, or torn: the caller tries again
  }
}

/** Owner of a resource's lock, if a living one holds it. */
export async function lockHolder(dir: string, resource: string): Promise<LockOwner | undefined> {
  const read = await readOwner(lockPath(dir, resource));
  return read === undefined || isDead(read.owner, read.ageMs) ? undefined : read.owner;
}

/** Takes all the locks or none. Throws LOCKED where a living process holds one. */
export async function takeLocks(
  dir: string,
  resources: readonly string[],
  command: string,
  effects: {now(): number; log: Log},
): Promise<HeldLocks> {
  const held: LockOwner[] = [];
  const beat = setInterval(() => {
    const now = new Date();
    for (const owner of held) utimes(lockPath(dir, owner.resource), now, now).catch(() => undefined); // next beat tries again
  }, heartbeatMs);
  beat.unref();
  const release = async (): Promise<void> => {
    clearInterval(beat);
    for (const owner of held.splice(0)) await releaseOne(dir, owner);
  };
  try {
    for (const resource of [...new Set(resources)].sort())
      held.push(await takeOne(dir, resource, command, effects));
  } catch (error) {
    await release();
    throw error;
  }
  return {release};
}

async function takeOne(
  dir: string,
  resource: string,
  command: string,
  effects: {now(): number; log: Log},
): Promise<LockOwner> {
  const path = lockPath(dir, resource);
  const owner = thisOwner(resource, command, effects.now());
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await createIfAbsent(path, JSON.stringify(owner))) return owner;
    const read = await readOwner(path);
    if (read === undefined) continue;
    if (!isDead(read.owner, read.ageMs))
      throw new CrawlError(
        'LOCKED',
        `${resource} is in use by crawl ${read.owner.command} (process ${read.owner.pid} on ${read.owner.host}, since ${read.owner.taken_time})`,
        {facts: {...read.owner}},
      );
    if (await removeStale(path, read.owner)) effects.log('warn', 'stale_lock_taken_over', {...read.owner});
  }
  throw new CrawlError('LOCKED', `${resource} is wanted by several commands at once`);
}

/** Moves a dead owner's lock away; true for the one caller that did. */
async function removeStale(path: string, owner: LockOwner): Promise<boolean> {
  const aside = `${path}.${owner.nonce}.stale`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
  const moved = JSON.parse(await readFile(aside, 'utf8')) as LockOwner;
  await unlink(aside).catch(() => undefined);
  if (moved.nonce === owner.nonce) return true;
  await createIfAbsent(path, JSON.stringify(moved)); // another one took it over between our read and our rename: give it back
  return false;
}

async function releaseOne(dir: string, owner: LockOwner): Promise<void> {
  const path = lockPath(dir, owner.resource);
  const read = await readOwner(path);
  if (read?.owner.nonce === owner.nonce) await unlink(path).catch(() => undefined);
}
