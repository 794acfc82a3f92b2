import {toHostState} from '../lib/fetcher/delay.ts';
import type {FetchWork} from '../lib/fetcher/work.ts';
import {hoststate, robots} from '../lib/schema/hostdb.ts';
import {journalOutcomes} from '../lib/store/journal-read.ts';
import {sealJournals} from '../lib/store/journal-seal.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {type DatabaseParams, databaseParams, openTaskDatabase, rowsTable} from './crawldb-writer.ts';
import type {FetchParams} from './fetch-task.ts';
import type {Task, TaskContext} from './job.ts';

/** Smaller payloads are stored anew: a reference to another segment costs more than they do. DESIGN: 1 KiB. */
const leastShared = 1024;

export interface SealedFetch {
  readonly files: readonly FileRef[];
  readonly stored: number;
  readonly shared: number;
  readonly lost: number;
}

/** Turns a journal that is complete into tables: fetch and content, and the states of hosts that it changed. */
export async function sealFetch(
  folder: string,
  work: FetchWork,
  task: Task,
  {segment, config}: FetchParams,
  ctx: TaskContext,
): Promise<SealedFetch> {
  const held = config.storage.dedup
    ? await heldPayloads(folder, task, ctx, databaseParams(config))
    : undefined;
  const sealed = await sealJournals(folder, {
    segment,
    create: (table) => ctx.store.create(table, `segments/${segment}/${table.name}`),
    ...(held && {alreadyStored: (sha256: string) => held.get(sha256)}),
  });
  return {
    files: [...sealed.fetch, ...sealed.content, ...(await writeHosts(work, segment, ctx))],
    stored: sealed.stored,
    shared: sealed.shared,
    lost: sealed.lost,
  };
}

/** Segments that hold payloads of this journal already, by SHA-256. Memory: the digests of the journal, once. */
async function heldPayloads(
  folder: string,
  task: Task,
  ctx: TaskContext,
  database: DatabaseParams,
): Promise<Map<string, string>> {
  const held = new Map<string, string>();
  const contents = task.inputs.filter(({table, rows}) => table === 'content' && rows > 0);
  if (contents.length === 0) return held;
  const digests: string[] = [];
  for await (const rows of journalOutcomes(folder, ['content_sha256', 'content_length']))
    for (const {content_sha256: sha256, content_length: length} of rows)
      if (sha256 !== null && (length ?? 0) >= leastShared) digests.push(sha256);
  if (digests.length === 0) return held;
  const db = await openTaskDatabase({...task, inputs: contents}, ctx, database, ['content']);
  try {
    const journalled = await rowsTable(db, 'journalled', {content_sha256: {type: 'text'}});
    await journalled.insert(digests.map((content_sha256) => ({content_sha256})));
    const found = await db.all<{content_sha256: string; segment: string}>(
      `SELECT content_sha256, min(segment) AS segment FROM content
       WHERE content_length >= ${leastShared}
         AND content_sha256 IN (SELECT content_sha256 FROM journalled)
       GROUP BY content_sha256`,
    );
    for (const row of found) held.set(row.content_sha256, row.segment);
    return held;
  } finally {
    await db.close();
  }
}

async function writeHosts(work: FetchWork, segment: string, ctx: TaskContext): Promise<FileRef[]> {
  const states = await ctx.store.create(hoststate, 'hosts/hoststate');
  for (const host of work.hosts)
    if (host.changed)
      await states.write([
        toHostState(host.politeness, {hostKey: host.hostKey, hostName: host.name, segment}),
      ]);
  const files = [await states.close()];
  const rows = await ctx.store.create(robots, 'hosts/robots');
  for (const row of work.robots.changed()) await rows.write([row]);
  files.push(await rows.close());
  return files;
}
