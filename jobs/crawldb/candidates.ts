import {inFrontier, sumRows} from '../../lib/crawldb/layout.ts';
import {type Bound, boundFor} from '../../lib/crawldb/score-grid.ts';
import {type Database, sqlString} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {readSql} from '../runner/sql-file.ts';

/**
 * How generate reads the crawldb: from the best URLs down, as deep as it has to.
 *
 * The view `due_row` has all columns of the crawldb and these rows: the URLs whose `next_fetch_time` is reached; of those
 * in the frontier (never fetched) the ones above `bound`, of the others all. Above it are all greater scores and, where
 * many share the score of the bound, those of them with the least keys. So a choice that is full and took nothing below
 * the bound is exact, whatever caps were applied: who chooses asks for more until that is so, or `complete` says that
 * there is no more.
 *
 * With `nearer` that holds for hosts that are asked in order of depth, too: of a host with URLs never fetched above the
 * bound there are all URLs up to the depth of the deepest such one. Whatever is missing comes after all of these; and
 * where it has the score of the bound, on a host of which nothing is there, it stands behind no URL of less score. As
 * scores shrink with each link, few rows are added and most row groups are passed over by their least depth; at worst
 * the keys, depths and scores of the whole frontier are read once.
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
  /** What is in `due_row` of the frontier; all of it where the score is -Infinity. */
  readonly bound: Bound;
  /** Makes `due_row` reach down to at least so many URLs, or to all. Never less deep than before. */
  deepen(want: number): Promise<void>;
}

const sql = readSql(import.meta.url, './candidates.sql', ['hosts', 'below', 'newer', 'due']);

/** A crawldb of up to so many rows is read whole: that costs less than finding where to end (chosen). Tests set it to 0. */
export const candidateRule = {smallRows: 200_000};

/**
 * @param db with the crawldb bound (`openTaskDatabase`, `openPlanDatabase`)
 * @param files all files of the crawldb
 * @param options.due time at which a URL is due, ms since the epoch
 * @param options.held URLs that stand in fetchlists of open segments, so that so many more are read
 * @param options.nearer also what comes before the head where hosts are asked in order of depth
 * @param options.wholeRows a crawldb of up to so many rows is read whole
 */
export function readCandidates(
  db: Database,
  files: readonly FileRef[],
  {due, held = 0, nearer = false, wholeRows = candidateRule.smallRows}: CandidateOptions,
): Candidates {
  const crawldb = files.filter((file) => file.table === 'crawldb');
  const condition = `next_fetch_time <= ${timeLiteral(due)}`;
  return new CandidateReader(db, crawldb, condition, held, nearer, readsWhole(crawldb, wholeRows));
}

/** Whether candidates are read from the view `crawldb` alone: it is small. */
export function readsWhole(files: readonly FileRef[], wholeRows = candidateRule.smallRows): boolean {
  return sumRows(files.filter(({table}) => table === 'crawldb')) <= wholeRows;
}

interface CandidateOptions {
  readonly due: number;
  readonly held?: number;
  readonly nearer?: boolean;
  readonly wholeRows?: number;
}

const parts = ['base', 'delta'] as const;

class CandidateReader implements Candidates {
  readonly #db: Database;
  readonly #files: readonly FileRef[];
  /** Condition for a row that is due. */
  readonly #due: string;
  readonly #held: number;
  readonly #nearer: boolean;
  readonly #whole: boolean;
  #bound: Bound = {score: Number.POSITIVE_INFINITY, key: null};

  constructor(
    db: Database,
    files: readonly FileRef[],
    due: string,
    held: number,
    nearer: boolean,
    whole: boolean,
  ) {
    this.#db = db;
    this.#files = files;
    this.#due = due;
    this.#held = held;
    this.#nearer = nearer;
    this.#whole = whole;
  }

  get bound(): Bound {
    return this.#bound;
  }

  get complete(): boolean {
    return this.#bound.score === Number.NEGATIVE_INFINITY;
  }

  async deepen(want: number): Promise<void> {
    const bound = this.#whole ? undefined : boundFor(this.#files, want, this.#held);
    const next = bound ?? {score: Number.NEGATIVE_INFINITY, key: null};
    if (!isDeeper(next, this.#bound)) return;
    this.#bound = next;
    if (bound === undefined) {
      await this.#db.run(`CREATE OR REPLACE VIEW due_row AS SELECT * FROM crawldb WHERE ${this.#due}`);
      return;
    }
    await this.#readHead();
    if (this.#nearer) await this.#findNearer();
    for (const part of parts)
      await this.#db.run(`CREATE OR REPLACE VIEW above_${part} AS SELECT * FROM head_${part}
${this.#nearer ? `UNION ALL SELECT * FROM nearer_${part}` : ''}`);
    await this.#db.run(sql.newer);
    await this.#db.run(sql.due);
  }

  /** Rows of base or deltas: plain conjunctions, since only such are held against the statistics of row groups. */
  async #readHead(): Promise<void> {
    const {score, key} = this.#bound;
    const rows = (part: string, condition: string) =>
      `SELECT * FROM crawldb_${part} WHERE ${this.#due} AND ${inFrontier} AND ${condition}`;
    const tie = `score = ${double(score)}`;
    for (const part of parts) {
      const frontier =
        key === null
          ? [rows(part, `score >= ${double(score)}`)]
          : [rows(part, `score > ${double(score)}`), rows(part, `${tie} AND url_key <= ${key}::UBIGINT`)];
      await this.#db.run(`CREATE OR REPLACE VIEW head_${part} AS
${[...frontier, `SELECT * FROM crawldb_visited_${part} WHERE ${this.#due}`].join('\nUNION ALL\n')};
CREATE OR REPLACE VIEW missing_${part} AS
${[rows(part, `score < ${double(score)}`), ...(key === null ? [] : [rows(part, `${tie} AND url_key > ${key}::UBIGINT`)])].join('\nUNION ALL\n')}`);
    }
  }

  /** Rows below the bound that come before others of their host; as tables, since it takes a scan to find them. */
  async #findNearer(): Promise<void> {
    const {score} = this.#bound;
    if (this.#bound.key !== null) {
      const [row] = await this.#db.all<{behind: boolean}>(sql.below, {score});
      if (row?.behind !== false) {
        this.#bound = {score, key: null};
        await this.#readHead();
      }
    }
    await this.#db.run(sql.hosts, {score});
    const [row] = await this.#db.all<{most: number | null}>('SELECT max(most) AS most FROM head_host');
    for (const part of parts)
      await this.#db.run(`CREATE OR REPLACE TABLE nearer_${part} AS
SELECT m.* FROM (SELECT * FROM missing_${part} WHERE depth <= ${row?.most ?? -1}) m
JOIN head_host h ON m.host_key = h.host_key AND m.depth <= h.most`);
  }
}

function isDeeper(a: Bound, b: Bound): boolean {
  return a.score < b.score || (a.score === b.score && b.key !== null && (a.key === null || a.key > b.key));
}

function double(value: number): string {
  return `${sqlString(`${value}`)}::DOUBLE`;
}

function timeLiteral(ms: number): string {
  return `make_timestamptz(${Math.round(ms) * 1000})`;
}
