import {inFrontier, sumRows} from '../lib/crawldb/layout.ts';
import {scoreFor} from '../lib/crawldb/score-grid.ts';
import {type Database, sqlString} from '../lib/store/duckdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {readSql} from './sql-file.ts';

/**
 * How generate reads the crawldb: from the best URLs down, as deep as it has to.
 *
 * The view `due_row` has all columns of the crawldb and these rows: the URLs whose `next_fetch_time` is reached; of those
 * in the frontier (never fetched) the ones with a score of at least `floor`, of the others all. So a choice that is full
 * and took nothing below the floor is exact, whatever caps were applied: who chooses asks for more until that is so, or
 * `complete` says that there is no more.
 *
 *     const candidates = await readCandidates(db, files, {due: now});
 *     do {
 *       await candidates.deepen(want);          // makes, or makes anew, the view due_row
 *       ...                                     // choose; want = 4 * want
 *     } while (!full && !candidates.complete);
 *
 * Where an order other than by score is wanted, ask for `Infinity`: then all that is due is read. The view is cheap to
 * read anew as long as the bound stays, also for wide columns: it opens only heads of files.
 */
export interface Candidates {
  /** All due URLs are in `due_row`. */
  readonly complete: boolean;
  /** Least score that is in `due_row` of the frontier; -Infinity where all are. */
  readonly floor: number;
  /** Makes `due_row` reach down to at least so many URLs, or to all. Never less deep than before. */
  deepen(want: number): Promise<void>;
}

const sql = readSql(import.meta.url, './crawldb-candidates.sql', ['newer', 'due']);

/** A crawldb of up to so many rows is read whole: that costs less than finding where to end (chosen). Tests set it to 0. */
export const candidateRule = {smallRows: 200_000};

/**
 * @param db with the crawldb bound (`openTaskDatabase`, `openPlanDatabase`)
 * @param files all files of the crawldb
 * @param options.due time at which a URL is due, ms since the epoch
 * @param options.wholeRows a crawldb of up to so many rows is read whole
 */
export function readCandidates(
  db: Database,
  files: readonly FileRef[],
  {due, wholeRows = candidateRule.smallRows}: {readonly due: number; readonly wholeRows?: number},
): Candidates {
  const crawldb = files.filter((file) => file.table === 'crawldb');
  const condition = `next_fetch_time <= ${timeLiteral(due)}`;
  return new CandidateReader(db, crawldb, condition, sumRows(crawldb) <= wholeRows);
}

class CandidateReader implements Candidates {
  readonly #db: Database;
  readonly #files: readonly FileRef[];
  /** Condition for a row that is due. */
  readonly #due: string;
  readonly #whole: boolean;
  #floor = Number.POSITIVE_INFINITY;

  constructor(db: Database, files: readonly FileRef[], due: string, whole: boolean) {
    this.#db = db;
    this.#files = files;
    this.#due = due;
    this.#whole = whole;
  }

  get floor(): number {
    return this.#floor;
  }

  get complete(): boolean {
    return this.#floor === Number.NEGATIVE_INFINITY;
  }

  async deepen(want: number): Promise<void> {
    const bound = this.#whole ? undefined : scoreFor(this.#files, want);
    const floor = bound ?? Number.NEGATIVE_INFINITY;
    if (floor >= this.#floor) return;
    this.#floor = floor;
    if (bound === undefined) {
      await this.#db.run(`CREATE OR REPLACE VIEW due_row AS SELECT * FROM crawldb WHERE ${this.#due}`);
      return;
    }
    for (const part of ['base', 'delta'])
      await this.#db.run(`CREATE OR REPLACE VIEW above_${part} AS ${this.#above(part)}`);
    await this.#db.run(sql.newer);
    await this.#db.run(sql.due);
  }

  /** Rows of base or deltas: plain conjunctions, since only such are held against the statistics of row groups. */
  #above(part: string): string {
    const score = `score >= ${sqlString(`${this.#floor}`)}::DOUBLE`;
    return `SELECT * FROM crawldb_${part} WHERE ${this.#due} AND ${inFrontier} AND ${score}
UNION ALL
SELECT * FROM crawldb_visited_${part} WHERE ${this.#due}`;
  }
}

function timeLiteral(ms: number): string {
  return `make_timestamptz(${Math.round(ms) * 1000})`;
}
