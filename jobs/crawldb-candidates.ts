import {sumRows} from '../lib/crawldb/layout.ts';
import {type Bound, boundFor} from '../lib/crawldb/score-grid.ts';
import {type Database, sqlString} from '../lib/store/duckdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {readSql} from './sql-file.ts';

/**
 * How generate reads the crawldb: from the best URLs down, as deep as it has to.
 *
 * The view `due_row` has all columns of the crawldb and these rows: the URLs whose `next_fetch_time` is reached, down
 * to a bound in the order (score descending, url_key). Every due URL above the bound is in it and none below, so a
 * choice that is full is exact, whatever caps were applied: who chooses asks for more until its lists are full or
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
  /** Makes `due_row` reach down to at least so many URLs, or to all. Never less deep than before. */
  deepen(want: number): Promise<void>;
}

const sql = readSql(import.meta.url, './crawldb-candidates.sql', ['newer', 'due']);

/** Reading all of them costs less than finding where to end (chosen). */
const smallRows = 200_000;

/**
 * @param db with the crawldb bound (`openTaskDatabase`, `openPlanDatabase`)
 * @param files all files of the crawldb
 * @param options.due time at which a URL is due, ms since the epoch
 * @param options.wholeRows a crawldb of up to so many rows is read whole
 */
export function readCandidates(
  db: Database,
  files: readonly FileRef[],
  {due, wholeRows = smallRows}: {readonly due: number; readonly wholeRows?: number},
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
  #bound: Bound | undefined;
  #made = false;

  constructor(db: Database, files: readonly FileRef[], due: string, whole: boolean) {
    this.#db = db;
    this.#files = files;
    this.#due = due;
    this.#whole = whole;
  }

  get complete(): boolean {
    return this.#made && this.#bound === undefined;
  }

  async deepen(want: number): Promise<void> {
    if (this.complete) return;
    const bound = this.#whole ? undefined : boundFor(this.#files, want);
    if (this.#made && bound !== undefined && !deeper(bound, this.#bound)) return;
    this.#bound = bound;
    this.#made = true;
    const view = (name: string, table: string) =>
      this.#db.run(`CREATE OR REPLACE VIEW ${name} AS ${above(table, this.#due, bound)}`);
    if (this.#whole) {
      await view('due_row', 'crawldb');
      return;
    }
    await view('above_base', 'crawldb_base');
    await view('above_delta', 'crawldb_delta');
    await this.#db.run(sql.newer);
    await this.#db.run(sql.due);
  }
}

function deeper(bound: Bound, than: Bound | undefined): boolean {
  if (than === undefined) return false;
  return bound.score < than.score || (bound.score === than.score && bound.urlKey > than.urlKey);
}

/** Rows above a bound: a plain conjunction each, since only such are held against the statistics of row groups. */
function above(table: string, due: string, bound: Bound | undefined): string {
  if (bound === undefined) return `SELECT * FROM ${table} WHERE ${due}`;
  const score = `${sqlString(`${bound.score}`)}::DOUBLE`;
  return `SELECT * FROM ${table} WHERE ${due} AND score > ${score}
UNION ALL
SELECT * FROM ${table} WHERE ${due} AND score = ${score} AND url_key <= ${bound.urlKey}::UBIGINT`;
}

function timeLiteral(ms: number): string {
  return `make_timestamptz(${Math.round(ms) * 1000})`;
}
