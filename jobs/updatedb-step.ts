import type {Config} from '../lib/config/settings.ts';
import type {TransitionPolicy} from '../lib/crawldb/transition.ts';
import type {HostWaits} from '../lib/schedule/failure.ts';
import type {Price} from '../lib/schedule/price.ts';
import type {CrawlDatum} from '../lib/schema/crawldb.ts';
import type {Reason} from '../lib/schema/reason.ts';
import type {Scope} from '../lib/scope/scope.ts';
import type {Database} from '../lib/store/duckdb.ts';
import type {DatabaseParams} from './crawldb-writer.ts';
import type {TaskContext} from './job.ts';
import type {PolicyTexts} from './policy-texts.ts';
import {readSql} from './sql-file.ts';

/** How a segment takes part: see the header of updatedb.sql. */
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

export const sql = readSql(import.meta.url, './updatedb.sql', [
  'outcomes',
  'late',
  'origins',
  'batch',
  'old_batch',
  'current',
  'reparsed',
  'reparsed_batch',
  'reparsed_rows',
  'affected',
  'examined',
  'doubtful',
  'links',
  'sources',
  'targets',
  'family_visits',
  'families_met',
  'next_families',
  'admit',
  'trap_candidates',
  'trapped',
  'add',
  'refusals',
  'earlier',
  'hinted',
  'rates',
  'yield',
  'counted',
  'totals',
]);

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
