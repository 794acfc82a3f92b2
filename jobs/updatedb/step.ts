import type {Config} from '../../lib/config/settings.ts';
import type {TransitionPolicy} from '../../lib/crawldb/transition.ts';
import type {HostWaits} from '../../lib/schedule/failure.ts';
import type {Price} from '../../lib/schedule/price.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {Reason} from '../../lib/schema/reason.ts';
import type {RefusalRow} from '../../lib/schema/refusals.ts';
import type {Scope} from '../../lib/scope/scope.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {PolicyTexts} from '../config/policy-texts.ts';
import {markTouched} from '../crawldb/repeats.ts';
import type {DatabaseParams} from '../crawldb/writer.ts';
import type {TaskContext} from '../job.ts';

/** How a segment takes part: see the header of fold.sql. */
export type SegmentMode = 'apply' | 'reparse' | 'history';

export interface UpdateParams {
  readonly segments: readonly {
    readonly segment: string;
    readonly mode: SegmentMode;
    /** The parse that is applied; null: unparsed. */
    readonly parse_id: string | null;
  }[];
  readonly additions: boolean;
  readonly revision: number;
  /** Time of the job, ms since the epoch. */
  readonly now: number;
  /** Of a visit, for schedule.kind change_rate. */
  readonly price: Price | null;
  readonly texts: PolicyTexts;
  readonly config: Pick<
    Config,
    'url' | 'scope' | 'links' | 'schedule' | 'score' | 'dedup' | 'budget' | 'traps'
  > & {
    readonly waits: HostWaits;
  };
  readonly database: DatabaseParams;
}

export type Reasons = Partial<Record<Reason, number>>;

/** What all steps of the task work with. */
export interface Update {
  readonly db: Database;
  readonly ctx: TaskContext;
  readonly params: UpdateParams;
  readonly policy: TransitionPolicy;
  readonly scope: Scope;
  readonly changed: {insert(rows: readonly CrawlDatum[]): Promise<void>};
  readonly reasons: Reasons;
  /** Captures, and targets of redirects, that are refused before any link is looked at. */
  readonly refused: {insert(rows: readonly Omit<RefusalRow, 'parse_id' | 'refused_time'>[]): Promise<void>};
}

/**
 * Marks duplicates among the pages that the rows of a table are or were like; they are in `changed` already.
 *
 * @returns how many duplicates were found
 */
export async function markDuplicates({db, params}: Update, table: string): Promise<number> {
  await db.run(`CREATE OR REPLACE VIEW touched AS SELECT * FROM ${table};
CREATE OR REPLACE TABLE former_row AS
SELECT
  host_key, url_key, url, status, signature, text_signature, simhash, duplicate_of, duplicate_kind, similar_to
FROM crawldb_of('${table}')`);
  const duplicates = await markTouched(db, params.config.dedup, `SELECT * FROM current_of('examined')`);
  await replaceChanged(db, 'dedup_row');
  return duplicates;
}

/** Whether a table has rows: a step over none costs as much as one over a few, some 10 to 40 ms. */
export async function hasRows(db: Database, table: string): Promise<boolean> {
  return (await db.all(`SELECT 1 FROM ${table} LIMIT 1`)).length > 0;
}

/** Rows of a table take their place among the changed ones. */
export async function replaceChanged(db: Database, table: string): Promise<void> {
  await db.run(`
    DELETE FROM changed USING ${table} t WHERE changed.host_key = t.host_key AND changed.url_key = t.url_key;
    INSERT INTO changed BY NAME SELECT * FROM ${table}`);
}

export function charge(reasons: Reasons, reason: Reason, n: number): void {
  if (n > 0) reasons[reason] = (reasons[reason] ?? 0) + n;
}
