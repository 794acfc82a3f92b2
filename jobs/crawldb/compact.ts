import {
  afterCompaction,
  type BucketPlan,
  bucketsFor,
  type CompactionPlan,
} from '../../lib/crawldb/compaction.ts';
import {
  bucketsOf,
  isDelta,
  type ListName,
  oldestOf,
  type Range,
  rangeOf,
  revisionOf,
  sumRows,
} from '../../lib/crawldb/layout.ts';
import {crashPoint} from '../../lib/store/crash-points.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {Edit, FileRef} from '../../lib/store/manifest-types.ts';
import {bindDeltas, bindFiles} from '../../lib/store/views.ts';
import type {Next, Task, TaskContext, TaskResult} from '../job.ts';
import {type DatabaseParams, openTaskDatabase} from '../runner/database.ts';
import {readSql} from '../runner/sql-file.ts';
import {type InlinksSlot, writeInlinks} from './inlinks.ts';
import {listNames, writeBucket, writeDeltaFiles} from './lists.ts';

/**
 * The last stage of a commit that makes the deltas too large, and all of `crawl compact`: some buckets of the crawldb
 * take up their rows of the deltas, and their share of `inlinks`. What others still need stays where it is.
 */

const sql = readSql(import.meta.url, './compact.sql', [
  'carried',
  'count',
  'taken',
  'rows',
  'carry',
  'merge',
]);

export interface CompactionParams {
  readonly kind: typeof compactionKind;
  /** `all`: the whole base anew, in buckets of one size. */
  readonly plan: CompactionPlan | 'all';
  /** All files of the crawldb, those that are not touched too. */
  readonly files: readonly FileRef[];
  /** Null where a job leaves it alone. */
  readonly inlinks: InlinksSlot | null;
  readonly database: DatabaseParams;
  readonly edit: Edit;
}
const compactionKind = 'compaction';

/** Live rows of deltas that are in memory at once, about: 300 bytes each. */
const takenRows = 500_000;

export function compactionTask(stage: number, params: Omit<CompactionParams, 'kind'>): Task {
  const {plan, files, inlinks: slot} = params;
  const needed =
    plan === 'all' ? files : [...plan.buckets.flatMap((bucket) => bucket.files), ...files.filter(isDelta)];
  return {
    stage,
    part: 0,
    inputs: [...needed, ...(slot?.files ?? [])],
    params: {...params, kind: compactionKind},
  };
}

export function isCompaction(task: Task): boolean {
  return task.params.kind === compactionKind;
}

interface Work {
  readonly db: Database;
  readonly ctx: TaskContext;
  readonly params: CompactionParams;
  /** What the buckets have taken up afterwards: the revision, and the version of `inlinks`. */
  readonly seq: number;
  readonly links: number;
}

/** Does a compaction. Memory: one bucket, sorted, and `takenRows` of deltas. */
export async function compactBuckets(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as CompactionParams; // made by compactionTask
  const {files, plan, inlinks: slot} = params;
  const deltas = files.filter(isDelta);
  const seq = Math.max(0, ...deltas.map(revisionOf), ...bucketsOf(files).map((bucket) => bucket.seq));
  const db = await openTaskDatabase(task, ctx, params.database, [], {asViews: true});
  try {
    await bindDeltas(db, ctx.store, files, slot?.files ?? []);
    await db.run(sql.carried);
    const work: Work = {db, ctx, params, seq, links: slot?.version ?? 0};
    const buckets = plan === 'all' ? await wholeBase(work) : plan.buckets;
    const written: FileRef[] = [];
    for (const batch of batches(buckets)) written.push(...(await compactBatch(work, batch)));
    const merging = plan === 'all' ? deltas : plan.merge;
    const replaced = [...buckets.flatMap((bucket) => bucket.files), ...merging];
    if (plan !== 'all' && merging.length > 0)
      written.push(...(await mergeDeltas(work, merging, afterCompaction(files, replaced, written))));
    const after = afterCompaction(files, replaced, written);
    const rest = await inlinksAfter(work, after);
    return {
      files: [...written, ...rest.written],
      counters: {
        buckets_compacted_total: buckets.length,
        rows_compacted_total: sumRows(written),
      },
      reasons: {},
      facts: {edit: editAfter(params, after, rest.files)},
    };
  } finally {
    await db.close();
  }
}

/** The whole base in buckets of one size, by the number of URLs that there are. */
async function wholeBase({db, ctx, params}: Work): Promise<readonly BucketPlan[]> {
  const {files} = params;
  await bindFiles(
    db,
    ctx.store,
    'whole_base',
    files.filter((file) => !isDelta(file)),
  );
  const [count] = await db.all<{n: number}>(sql.count);
  const buckets = bucketsFor(count?.n ?? 0);
  const live = sumRows(files.filter(isDelta)) / buckets;
  const old = bucketsOf(files);
  return Array.from({length: buckets}, (_, bucket) => {
    const range = rangeOf(bucket, buckets);
    const here = old.filter(({first, last}) => first <= range.last && last >= range.first);
    return {bucket, buckets, files: here.flatMap((one) => one.files), live, parts: 1};
  });
}

/** Buckets whose rows of deltas fit into memory together: the deltas are read once a batch. */
function batches(buckets: readonly BucketPlan[]): readonly (readonly BucketPlan[])[] {
  const all: BucketPlan[][] = [];
  let live = Number.POSITIVE_INFINITY;
  for (const bucket of buckets) {
    live += bucket.live;
    if (live > takenRows) {
      all.push([]);
      live = bucket.live;
    }
    all.at(-1)!.push(bucket);
  }
  return all;
}

async function compactBatch(work: Work, batch: readonly BucketPlan[]): Promise<FileRef[]> {
  const {db, ctx} = work;
  const here = batch.map(({bucket, buckets}) => hosts(rangeOf(bucket, buckets))).join(' OR ');
  await db.run(`CREATE OR REPLACE VIEW delta_here AS SELECT * FROM crawldb_delta WHERE ${here};
CREATE OR REPLACE VIEW link_here AS SELECT * FROM inlinks_live WHERE ${here}`);
  await db.run(sql.taken);
  const written: FileRef[] = [];
  for (const bucket of batch) {
    ctx.signal.throwIfAborted();
    for (const list of listNames) await bindFiles(db, ctx.store, `base_${list}`, ofList(bucket.files, list));
    await db.run(sql.rows);
    for (let part = 0; part < bucket.parts; part++)
      written.push(
        ...(await writePart(
          work,
          rangeOf(bucket.bucket * bucket.parts + part, bucket.buckets * bucket.parts),
        )),
      );
    crashPoint('bucket_written');
    ctx.progress({done: written.length, unit: 'files'});
  }
  return written;
}

async function writePart({db, ctx, seq, links}: Work, range: Range): Promise<readonly FileRef[]> {
  const rows = (list: ListName) => `SELECT * FROM row_${list} WHERE ${hosts(range)}`;
  await db.run(sql.carry, {first: range.first, last: range.last});
  return writeBucket(db, ctx, rows, range, {seq, links});
}

function hosts({first, last}: Range): string {
  return `host_key BETWEEN ${first}::UBIGINT AND ${last}::UBIGINT`;
}

function ofList(files: readonly FileRef[], list: ListName): readonly FileRef[] {
  return files.filter(({facts}) => facts?.list === list || facts?.list === undefined);
}

/** Deltas that become one, without what the buckets have taken up by now. */
async function mergeDeltas(
  {db, ctx}: Work,
  merging: readonly FileRef[],
  after: readonly FileRef[],
): Promise<readonly FileRef[]> {
  const base = after.filter((file) => !isDelta(file));
  await bindDeltas(db, ctx.store, [...base, ...merging], []);
  await db.run(sql.merge);
  const facts = {
    kind: 'delta',
    revision: Math.max(...merging.map(revisionOf)),
    oldest: Math.min(...merging.map(oldestOf)),
  };
  return writeDeltaFiles(db, ctx, 'SELECT * FROM merged', facts);
}

/** The slot `inlinks` without what all buckets have taken up, and with what is carried on. */
async function inlinksAfter(
  {db, ctx, params}: Work,
  after: readonly FileRef[],
): Promise<{readonly files: readonly FileRef[]; readonly written: readonly FileRef[]}> {
  const {inlinks: slot} = params;
  if (slot === null) return {files: [], written: []};
  const passed = Math.min(...bucketsOf(after).map(({links}) => links));
  const kept = slot.files.filter((file) => revisionOf(file) > passed);
  const written = await writeInlinks(db, ctx, 'SELECT * FROM carried', slot.version + 1);
  return {files: [...kept, ...written], written};
}

function editAfter(
  {edit, inlinks: slot}: CompactionParams,
  crawldb: readonly FileRef[],
  rest: readonly FileRef[],
): Edit {
  const writes = {...edit.writes, crawldb};
  const same =
    slot === null ||
    (rest.length === slot.files.length && rest.every((file) => slot.files.some(({key}) => key === file.key)));
  if (same) return {...edit, writes};
  return {...edit, reads: [...new Set([...edit.reads, 'inlinks'])], writes: {...writes, inlinks: rest}};
}

/** The edit that a compaction task has made. */
export function compactionEdit(results: readonly TaskResult[]): Next {
  return {edit: results[0]?.facts?.edit as Edit};
}
