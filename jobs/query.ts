import {rename, rm} from 'node:fs/promises';
import {resolve} from 'node:path';
import {type Hosts, oneHost} from '../lib/crawldb/layout.ts';
import {CrawlError} from '../lib/errors.ts';
import {furtherViews} from '../lib/extract/reserved.ts';
import {nearest} from '../lib/nearest.ts';
import {tables} from '../lib/schema/tables.ts';
import {type Database, type SqlRow, sqlString} from '../lib/store/duckdb.ts';
import {checkParseName} from '../lib/store/parses.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {bindSnapshot} from '../lib/store/views.ts';
import {hostKey, identify} from '../lib/url/keys.ts';
import {normalizeUrl, type UrlPolicy} from '../lib/url/normalize.ts';
import {readPolicies} from './config/policies.ts';
import {checkFilter, type TypedFilter} from './query/filter.ts';
import {defineFunctions} from './query/functions.ts';
import {defineLive, fillLive, namesLive, unfinished} from './query/live.ts';
import {expandKeys, explained, isEmptyQuery, isExplain, parsesNamed, withoutEnd} from './query/text.ts';
import {type CrawlReader, openReader, type ReadSettings, readSnapshot} from './read/crawl.ts';

/** SQL over a crawl, for reading only. */
export interface QuerySession {
  /** Number of the manifest that the views show. */
  readonly manifest: number;
  /** Columns, and rows as they come. Throws QUERY_FAILED; while rows come RESULT_INCOMPLETE. */
  query(sql: string): Promise<{columns: readonly string[]; batches: AsyncIterable<SqlRow[]>}>;
  /** Tries what a person said of the rows of a table. Throws USAGE. */
  check(filter: TypedFilter): Promise<void>;
  /** Writes the result as a Parquet file, which appears whole or not at all. Resolves to its rows. */
  exportParquet(sql: string, file: string): Promise<number>;
  /** Views of the newest manifest again, if it is another one by now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export type {TypedFilter} from './query/filter.ts';

export interface QuerySettings extends ReadSettings {
  /** Folders whose files a query may read too. */
  readonly allow?: readonly string[];
  /** File that {@link QuerySession.exportParquet} will write. */
  readonly output?: string | undefined;
  /** A URL: of the crawldb only the rows of its host are asked. What is none is a mistake: USAGE. */
  readonly about?: string | undefined;
}

/**
 * Opens a session. Files outside the crawl, extensions and settings are out of a query's reach, and statements
 * other than queries are refused before they run.
 */
export async function openQueries(given: QuerySettings): Promise<QuerySession> {
  const {policy} = await readPolicies(given.dir, given.config);
  const settings = given.about === undefined ? given : {...given, hosts: hostOf(given.about, policy)};
  const reader = await openReader(settings);
  try {
    await defineFunctions(reader.db, settings.config);
    await defineLive(reader.db);
    await confine(reader.db, settings);
  } catch (error) {
    await reader.close();
    throw error;
  }
  const keyOf = (name: 'url_key' | 'host_key', text: string): bigint => {
    if (name === 'host_key' && !text.includes('://')) return hostKey(text);
    const normal = normalizeUrl(text, policy);
    if ('url' in normal) return identify(normal.url)[name];
    throw new CrawlError('QUERY_FAILED', `${name}('${text}'): ${normal.detail}`, {hint: 'Give a whole URL.'});
  };
  return new Session(reader, settings, (sql) => expandKeys(sql, keyOf));
}

/** The host of a URL that a person gave. Throws USAGE for what is none. */
function hostOf(url: string, policy: UrlPolicy): Hosts {
  const normal = normalizeUrl(url, policy);
  if ('url' in normal) return oneHost(identify(normal.url).host_key);
  throw new CrawlError('USAGE', `${url}: ${normal.detail}`, {facts: {reason: normal.reason}});
}

/** Fetches that end while their journals are read, one after another, before it is an error. */
const maxLiveTries = 5;

class Session implements QuerySession {
  readonly #reader: CrawlReader;
  readonly #settings: QuerySettings;
  readonly #expand: (sql: string) => string;
  /** What the views show. */
  #snapshot: Snapshot;

  constructor(reader: CrawlReader, settings: QuerySettings, expand: (sql: string) => string) {
    this.#reader = reader;
    this.#settings = settings;
    this.#expand = expand;
    this.#snapshot = reader.snapshot;
  }

  get manifest(): number {
    return this.#snapshot.manifest.number;
  }

  async query(sql: string): Promise<{columns: readonly string[]; batches: AsyncIterable<SqlRow[]>}> {
    const {db} = this.#reader;
    const text = this.#read(sql);
    await checkReads(db, text);
    if (namesLive(text)) await this.#readLive();
    const rows = db.stream(text)[Symbol.asyncIterator]();
    const first = await translated(db, () => rows.next());
    // Names come with the rows; for none of them DuckDB is asked
    const columns =
      first.done !== true && first.value[0] !== undefined
        ? Object.keys(first.value[0])
        : (await db.describe(text)).map(({name}) => name);
    async function* batches(): AsyncGenerator<SqlRow[]> {
      try {
        for (let next = first; next.done !== true; next = await rows.next()) yield next.value;
      } finally {
        await rows.return?.();
      }
    }
    return {columns, batches: batches()};
  }

  check(filter: TypedFilter): Promise<void> {
    return checkFilter(this.#reader.db, filter);
  }

  async exportParquet(sql: string, file: string): Promise<number> {
    const {db} = this.#reader;
    const text = this.#read(sql);
    if ((await checkReads(db, text)) !== 'SELECT')
      throw new CrawlError('QUERY_FAILED', 'a plan cannot be written as Parquet');
    if (namesLive(text)) await this.#readLive();
    const part = `${file}.part`;
    try {
      const target = sqlString(part);
      const [result] = await translated(db, () =>
        db.all<{Count: number}>(
          `COPY (\n${withoutEnd(text)}\n) TO ${target} (FORMAT parquet, COMPRESSION zstd)`,
        ),
      );
      await rename(part, file);
      return result?.Count ?? 0;
    } catch (error) {
      await rm(part, {force: true});
      throw error;
    }
  }

  /** The query with keys in place; throws PARSE_UNKNOWN for a parse that is in no segment. */
  #read(sql: string): string {
    for (const name of parsesNamed(sql)) checkParseName(name, this.#snapshot);
    return this.#expand(sql);
  }

  async refresh(): Promise<void> {
    if (this.#settings.asOf !== undefined) return;
    const snapshot = await readSnapshot(this.#settings.dir);
    if (snapshot.manifest.number === this.manifest) return;
    const {segments, parse, hosts} = this.#settings;
    await bindSnapshot(this.#reader.db, snapshot, {
      parse,
      hosts,
      ...(segments && segments.length > 0 && {segments}),
    });
    this.#snapshot = snapshot;
  }

  /** Fills fetch_live; an older manifest has none. A fetch that ends meanwhile has its rows in `fetch` instead. */
  async #readLive(): Promise<void> {
    const {dir, asOf, segments} = this.#settings;
    if (asOf !== undefined) return;
    for (let again = 0; ; again++) {
      const before = unfinished(this.#snapshot, segments);
      let failed: {readonly error: unknown} | undefined;
      try {
        await fillLive(this.#reader.db, dir, before);
      } catch (error) {
        failed = {error}; // maybe a journal went while it was read
      }
      await this.refresh();
      const same = unfinished(this.#snapshot, segments).join() === before.join();
      if (same && failed === undefined) return;
      if (failed !== undefined && (same || again === maxLiveTries)) throw failed.error;
    }
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

/** Nothing but the crawl, the folders allowed and the file to be written can be reached from here on. */
async function confine(db: Database, settings: QuerySettings): Promise<void> {
  const folders = [settings.dir, ...(settings.allow ?? [])].map((folder) => sqlString(resolve(folder)));
  const files = settings.output === undefined ? [] : [sqlString(`${settings.output}.part`)];
  await db.run(`SET GLOBAL allowed_directories = [${folders.join(', ')}];
SET GLOBAL allowed_paths = [${files.join(', ')}];
SET GLOBAL enable_external_access = false;
SET GLOBAL lock_configuration = true`);
}

/** Kind of the one statement, which must be a query, or the plan of one. Throws QUERY_FAILED or USAGE. */
async function checkReads(db: Database, sql: string): Promise<'SELECT' | 'EXPLAIN'> {
  const refuse = (what: string) =>
    new CrawlError('USAGE', `crawl sql only reads: ${what}`, {
      hint: 'Give one SELECT, FROM, WITH, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN statement.',
    });
  if (isEmptyQuery(sql)) throw refuse('the query is empty');
  const kinds = await translated(db, () => db.statementKinds(sql));
  const [kind] = kinds;
  if (kinds.length !== 1) throw refuse(`${kinds.length} statements in one query`);
  // EXPLAIN ANALYZE runs what it explains
  if (kind === 'EXPLAIN' && isExplain(sql)) {
    const [inner] = await translated(db, () => db.statementKinds(explained(sql)));
    if (inner === 'SELECT') return 'EXPLAIN';
    throw refuse(`EXPLAIN of ${inner}`);
  }
  if (kind !== 'SELECT') throw refuse(`${kind} is not a query`);
  return 'SELECT';
}

/** DuckDB's error with the nearest name of ours. It offers its own system tables, which nobody means. */
async function translated<T>(db: Pick<Database, 'all'>, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof CrawlError)) throw error;
    if (error.message.startsWith('Permission Error: Cannot access'))
      throw new CrawlError('QUERY_FAILED', error.message, {
        facts: error.facts,
        hint: 'A query reads the crawl alone; --allow DIR adds a folder.',
        cause: error,
      });
    if (/syntax error at or near "fetch"/i.test(error.message))
      throw new CrawlError('QUERY_FAILED', error.message, {
        facts: error.facts,
        hint: 'FETCH is a word of SQL: the table fetch is also called captures; "fetch" in double quotes works too.',
        cause: error,
      });
    if (error.message.includes('__pivot_enum'))
      throw new CrawlError(
        'QUERY_FAILED',
        'PIVOT needs its values named: it would write a type to find them',
        {
          facts: error.facts,
          hint: "As in: PIVOT crawldb ON status IN ('fetched', 'gone') USING count(*)",
          cause: error,
        },
      );
    const parameter = /^the query’s parameter (\$\w+) has no value/.exec(error.message)?.[1];
    if (parameter !== undefined)
      throw new CrawlError('QUERY_FAILED', `${parameter} is a parameter, and has no value here`, {
        facts: error.facts,
        hint: 'Write the value itself.',
        cause: error,
      });
    const name = /Table with name "?([^\s"]+)"? does not exist/.exec(error.message)?.[1];
    if (name === undefined) throw error;
    const own = await db.all<{extractor: string}>('SELECT DISTINCT extractor FROM extractors ORDER BY ALL');
    const known = [...Object.keys(tables), ...furtherViews, ...own.map(({extractor}) => extractor)];
    const near = nearest(name, known);
    throw new CrawlError(
      'QUERY_FAILED',
      `there is no table ${name}${near ? `; did you mean ${near}?` : ''}`,
      {
        facts: error.facts,
        hint: `Tables: ${known.join(' ')}`,
        cause: error,
      },
    );
  }
}
