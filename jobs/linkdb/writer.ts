import {
  afterCompaction,
  type BucketPlan,
  bucketsFor,
  type CompactionPlan,
  type CompactionRule,
  compactionPlan,
  slotBits,
  slotsText,
} from '../../lib/crawldb/compaction.ts';
import {
  baseFacts,
  bucketsOf,
  isDelta,
  oldestOf,
  rangeOf,
  revisionOf,
  sumRows,
} from '../../lib/crawldb/layout.ts';
import {linkdb, linksources} from '../../lib/schema/linkdb.ts';
import {crashPoint} from '../../lib/store/crash-points.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {bindInlinks, bindLinkDeltas, bindLinks, bindTables} from '../../lib/store/views.ts';
import {writeInlinks} from '../crawldb/inlinks.ts';
import type {TaskContext} from '../job.ts';
import {readSql} from '../runner/sql-file.ts';

/**
 * The files of the linkdb. They lie as those of the crawldb do: a base in buckets by the target's host, deltas of
 * rounds, and buckets that take up their share now and then. `linksources` says which pages were told anew since.
 */

const sql = readSql(import.meta.url, './compact.sql', [
  'crowded',
  'no_surplus',
  'surplus',
  'cut',
  'rows',
  'new_sources',
  'sources',
]);

/** Links are 40 to 60 bytes, sorted by key: larger buckets than those of the crawldb (chosen). */
const linkRule: CompactionRule = {
  maxShare: 0.25,
  minRows: 500_000,
  maxRevisions: 24,
  smallRows: 100_000,
  bucketRows: 2_000_000,
  maxBuckets: 0.25,
};
/** Files of small tables that are read together before they become one. */
const maxSmallFiles = 24;

export interface LinkWork {
  readonly db: Database;
  readonly ctx: TaskContext;
  readonly revision: number;
  readonly maxInlinks: number;
  /** Files of the crawldb, whose scores are asked where a page has too many links. */
  readonly crawldb: readonly FileRef[];
}

export interface Written {
  /** All files that the table has now. */
  readonly files: readonly FileRef[];
  readonly written: readonly FileRef[];
}

const linkOrder = 'target_host_key, target_url_key, source_host_key, source_url_key';

/**
 * The linkdb with the links of the pages in the table `source`, which the view `new_link` gives and the table `told_link` counts; buckets where deltas weigh too much are written anew,
 * of a small linkdb all.
 *
 * @param derived there is no file of `linksources` yet, and the view of that name tells what must be in it
 * @returns `cut`: how many more links are cut than were before; less than 0 where some came back
 */
export async function linksAfter(
  work: LinkWork,
  links: readonly FileRef[],
  sources: readonly FileRef[],
  derived: boolean,
): Promise<Written & {readonly cut: number}> {
  const {ctx, revision} = work;
  const written = await writeDelta(work, 'told_link', 'new_link', {kind: 'delta', revision});
  const before = [...links, ...written];
  const told = await writeSources(work, before, sources, derived);
  const small = sumRows(before) <= linkRule.smallRows;
  const plan = small ? whole(before) : compactionPlan(before, linkRule);
  const anew: FileRef[] = [];
  let cut = 0;
  for (const bucket of plan?.buckets ?? []) {
    ctx.signal.throwIfAborted();
    const files = [...bucket.files, ...before.filter(isDelta)];
    const done = await compactBucket(work, bucket, files, told.files);
    anew.push(...done.files);
    cut += done.cut;
    crashPoint('bucket_written');
  }
  const merge = plan?.merge ?? [];
  const replaced = [...merge, ...(plan?.buckets ?? []).flatMap(({files}) => files)];
  if (merge.length > 0 && !small)
    anew.push(...(await mergeDeltas(work, merge, afterCompaction(before, replaced, anew))));
  const files = [...afterCompaction(before, replaced, anew), ...told.files];
  const kept = new Set(files.map(({key}) => key));
  return {files, written: [...written, ...anew, ...told.written].filter(({key}) => kept.has(key)), cut};
}

/** All buckets, which take up all deltas. */
function whole(files: readonly FileRef[]): CompactionPlan {
  const buckets = bucketsFor(sumRows(files), linkRule);
  const base = files.filter((file) => !isDelta(file));
  const plans = Array.from({length: buckets}, (_, bucket) => ({
    bucket,
    buckets,
    files: base,
    live: 0,
    parts: 1,
  }));
  return {buckets: plans, merge: files.filter(isDelta)};
}

/** Writes a table or view of links; `counted` has the same ones for less. */
async function writeDelta(
  {db, ctx}: LinkWork,
  counted: string,
  rows: string,
  facts: NonNullable<FileRef['facts']>,
): Promise<FileRef[]> {
  const counts = await db.all<{slot: number; rows: number}>(
    `SELECT (target_host_key >> ${64 - slotBits})::INTEGER AS slot, count(*) AS rows FROM ${counted} GROUP BY ALL`,
  );
  if (counts.length === 0) return [];
  const file = await ctx.store.create(linkdb, 'linkdb');
  const all = {...facts, slots: slotsText(counts)};
  return [await db.copy(`SELECT * FROM ${rows} ORDER BY ${linkOrder}`, {}, file, {facts: all})];
}

/** Writes a bucket, in its parts, without what does not count any more; what is too much is marked. */
async function compactBucket(
  {db, ctx, revision, maxInlinks, crawldb}: LinkWork,
  bucket: BucketPlan,
  files: readonly FileRef[],
  sources: readonly FileRef[],
): Promise<{readonly files: readonly FileRef[]; readonly cut: number}> {
  await bindLinks(db, ctx.store, 'links_so_far', files, sources);
  const written: FileRef[] = [];
  let cut = 0;
  for (let part = 0; part < bucket.parts; part++) {
    const range = rangeOf(bucket.bucket * bucket.parts + part, bucket.buckets * bucket.parts);
    await db.run(`CREATE OR REPLACE VIEW here AS SELECT * FROM links_so_far
      WHERE target_host_key BETWEEN ${range.first}::UBIGINT AND ${range.last}::UBIGINT`);
    await db.run(sql.crowded, {max_inlinks: maxInlinks});
    const [most] = await db.all<{n: number}>('SELECT count(*) AS n FROM crowded');
    if (most?.n === 0) await db.run(sql.no_surplus);
    else {
      await bindTables(db, ctx.store, {crawldb});
      await db.run(sql.surplus, {max_inlinks: maxInlinks});
    }
    const [count] = await db.all<{n: number}>(sql.cut);
    cut += count?.n ?? 0;
    const facts = {...baseFacts(range, 'visited', revision, 0), list: 'all'};
    written.push(await db.copy(sql.rows, {}, await ctx.store.create(linkdb, 'linkdb'), {facts}));
  }
  return {files: written, cut};
}

async function mergeDeltas(
  work: LinkWork,
  merge: readonly FileRef[],
  after: readonly FileRef[],
): Promise<readonly FileRef[]> {
  const base = after.filter((file) => !isDelta(file));
  await bindLinkDeltas(work.db, work.ctx.store, 'merging', [...base, ...merge]);
  return writeDelta(work, 'merging', 'merging', {
    kind: 'delta',
    revision: Math.max(...merge.map(revisionOf)),
    oldest: Math.min(...merge.map(oldestOf)),
  });
}

/** The pages of table `source` among those that were told; of many files one is made, the newest telling of each. */
async function writeSources(
  {db, ctx, revision}: LinkWork,
  links: readonly FileRef[],
  sources: readonly FileRef[],
  derived: boolean,
): Promise<Written> {
  const merge = derived || sources.length >= maxSmallFiles;
  const passed = Math.min(...bucketsOf(links).map(({seq}) => seq));
  await db.run(merge ? sql.sources : sql.new_sources, {revision, ...(merge && {passed})});
  const [count] = await db.all<{rows: number; again: number}>(
    'SELECT count(*) AS rows, count(*) FILTER (again) AS again FROM told_source',
  );
  const {rows = 0, again = 0} = count ?? {};
  const kept = merge ? [] : sources;
  if (rows === 0) return {files: kept, written: []};
  const file = await db.copy(
    'SELECT * FROM told_source ORDER BY source_host_key, source_url_key',
    {},
    await ctx.store.create(linksources, 'linkdb/sources'),
    {facts: {kind: 'delta', revision, again}},
  );
  return {files: [...kept, file], written: [file]};
}

/** `inlinks` with the table `change`; of many files one is made, without what the buckets of the crawldb took up. */
export async function inlinksAfter(
  db: Database,
  ctx: TaskContext,
  crawldb: readonly FileRef[],
  files: readonly FileRef[],
  revision: number,
): Promise<Written> {
  const merge = files.length >= maxSmallFiles;
  await bindInlinks(db, ctx.store, crawldb, merge ? files : []);
  const written = await writeInlinks(
    db,
    ctx,
    `SELECT host_key, url_key, sum(inlinks)::INTEGER AS inlinks
     FROM (SELECT host_key, url_key, inlinks FROM change UNION ALL SELECT host_key, url_key, inlinks FROM inlinks_live)
     GROUP BY ALL`,
    revision,
  );
  return {files: [...(merge ? [] : files), ...written], written};
}
