import {
  bucketsOf,
  filesOfHosts,
  type Hosts,
  inFrontier,
  isDelta,
  liveCondition,
  oldestOf,
  revisionOf,
  seqTable,
} from '../crawldb/layout.ts';
import {CrawlError} from '../errors.ts';
import type {Table} from '../schema/table.ts';
import {tables} from '../schema/tables.ts';
import type {FileRef} from './manifest-types.ts';
import {duckdbType, emptySelect, sqlName, sqlString} from './sql-types.ts';

/** The text of views over lists of files. Pure. */

/** Where DuckDB finds a file: an absolute path for jobs, one relative to the crawl folder for views.sql. */
export type FilePath = (file: FileRef) => string;

/**
 * A query for all rows of some files of one table, in the table's columns and types; for no files, an empty
 * one. Columns are found by field id, so that files of older versions give null for what they lack. (A file
 * without field ids would give nulls only; no such file is ever listed: see TableFile.finish.) DuckDB is told how many
 * rows there are: with columns by field id it does not look, takes 1,000 a file for granted, and joins would hold the
 * whole crawldb in memory rather than the few keys asked for.
 *
 * @param columns `file_row_number` besides: the place of a row in its file, from 0
 * @throws CrawlError VERSION_NEWER where a file was written by a later version of the table
 */
export function filesQuery(
  table: Table,
  files: readonly FileRef[],
  path: FilePath,
  columns: '*' | '*, file_row_number' = '*',
): string {
  for (const file of files)
    if ((file.version ?? 1) > table.version)
      throw new CrawlError(
        'VERSION_NEWER',
        `${file.key} has version ${file.version} of the table ${table.name}; this program knows version ${table.version}`,
        {facts: {path: file.key, table: table.name, version: file.version, known: table.version}},
      );
  if (files.length === 0) return emptySelect(table);
  const list = files.map((file) => sqlString(literalPath(path(file)))).join(', ');
  const schema = Object.entries(table.columns).map(
    ([name, column], at) =>
      `${at + 1}: {name: ${sqlString(name)}, type: ${sqlString(duckdbType(column))}, default_value: NULL}`,
  );
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  return `SELECT ${columns} FROM read_parquet([${list}], schema = MAP {${schema.join(', ')}}, explicit_cardinality = ${rows})`;
}

/** DuckDB takes `*`, `?` and `[` in file names as patterns; in brackets each stands for itself. */
function literalPath(path: string): string {
  return path.replace(/[*?[]/g, '[$&]');
}

/**
 * The crawldb: of each URL the newest row (lib/crawldb/layout.ts). The base without the keys of deltas, then union: ten
 * times faster than a window over all (measured 2026-10). The joins are of the kinds that let a condition on keys through
 * to both sides: with ANTI and SEMI JOIN, which say the same, a look-up of one URL read the keys of all deltas (measured
 * 2026-11 at 54 M rows, 4 M of them in deltas: 5.3 and 2.8 s of processor time; a whole scan takes as long with either).
 *
 * @param inlinks files of `inlinks`, whose rows no bucket has taken up yet; without them a row shows what its bucket knew
 * @param hosts the rows of these hosts alone: only files that can hold some are opened, two of the base in place of hundreds
 */
export function crawldbQuery(
  files: readonly FileRef[],
  path: FilePath,
  inlinks: readonly FileRef[] = [],
  hosts?: Hosts,
): string {
  if (hosts !== undefined) return ofHosts(crawldbQuery(filesOfHosts(files, hosts), path, inlinks), hosts);
  const rows = newestQuery(files, path);
  if (inlinks.length === 0) return rows;
  return `SELECT c.* REPLACE (c.inlinks + coalesce(i.inlinks, 0)::INTEGER AS inlinks)
FROM (${rows}) c
LEFT JOIN (
  SELECT host_key, url_key, sum(inlinks) AS inlinks FROM (${liveInlinksQuery(files, inlinks, path)}) GROUP BY ALL
) i USING (host_key, url_key)`;
}

function ofHosts(query: string, {first, last}: Hosts): string {
  const within = first === last ? `= ${first}::UBIGINT` : `BETWEEN ${first}::UBIGINT AND ${last}::UBIGINT`;
  return `SELECT * FROM (${query}) WHERE host_key ${within}`;
}

function newestQuery(files: readonly FileRef[], path: FilePath): string {
  const deltas = files.filter(isDelta);
  const base = files.filter((file) => !isDelta(file));
  if (deltas.length === 0) return filesQuery(tables.crawldb, base, path);
  const once = new Set(deltas.map(revisionOf)).size === 1; // of one commit, a row a URL
  const newest = once
    ? 'SELECT * FROM delta'
    : `SELECT d.* FROM delta d JOIN (
  SELECT host_key, url_key, max(revision) AS revision FROM delta GROUP BY host_key, url_key
) n USING (host_key, url_key, revision)`;
  const delta = `WITH delta AS NOT MATERIALIZED (${deltaQuery(files, path)})`;
  if (base.length === 0) return `${delta}\n${newest}`;
  return `${delta}
SELECT b.* FROM (${filesQuery(tables.crawldb, base, path)}) b
LEFT JOIN (SELECT host_key, url_key, true AS newer FROM delta) d USING (host_key, url_key)
WHERE d.newer IS NULL
UNION ALL
${newest}`;
}

/** Rows of the base, those that deltas have in a newer form among them. */
function baseQuery(files: readonly FileRef[], path: FilePath): string {
  return filesQuery(
    tables.crawldb,
    files.filter((file) => !isDelta(file)),
    path,
  );
}

/** Live rows of deltas: all forms of a URL that no bucket has taken up. */
export function deltaQuery(files: readonly FileRef[], path: FilePath): string {
  return liveQuery(tables.crawldb, files, path, 'host_key');
}

function liveQuery(table: Table, files: readonly FileRef[], path: FilePath, host: string): string {
  const deltas = files.filter(isDelta);
  const taken = seqTable(bucketsOf(files));
  const most = Math.max(...taken.seqs);
  const young = deltas.filter((file) => oldestOf(file) > most);
  const old = deltas.filter((file) => oldestOf(file) <= most);
  if (old.length === 0) return filesQuery(table, young, path);
  const live = `${filesQuery(table, old, path)} WHERE ${liveCondition(taken, host)}`;
  return young.length === 0 ? live : `${filesQuery(table, young, path)}\nUNION ALL\n${live}`;
}

/** Rows of deltas of the linkdb that its buckets have not taken up. */
export function linkDeltaQuery(links: readonly FileRef[], path: FilePath): string {
  return liveQuery(tables.linkdb, links, path, 'target_host_key');
}

/** The linkdb: of all links those that are not too many for links.max_inlinks. Over the view linkdb_all. */
export const linkdbQuery = 'SELECT * FROM linkdb_all WHERE cut IS NOT true';

/**
 * All links of base and deltas without those of pages that were told anew since. A page that was told for the first
 * time has none, so only those told again are looked for.
 */
export function allLinksQuery(
  links: readonly FileRef[],
  sources: readonly FileRef[],
  path: FilePath,
): string {
  const passed = Math.min(...seqTable(bucketsOf(links)).seqs);
  const again = sources.filter((file) => Number(file.facts?.again ?? 1) > 0 && revisionOf(file) > passed);
  const base = links.filter((file) => !isDelta(file));
  const rows = links.some(isDelta)
    ? `${filesQuery(tables.linkdb, base, path)}\nUNION ALL\n${linkDeltaQuery(links, path)}`
    : filesQuery(tables.linkdb, base, path);
  if (again.length === 0) return rows;
  return `SELECT l.* FROM (${rows}) l ANTI JOIN (
  SELECT source_host_key, source_url_key, max(revision) AS told
  FROM (${filesQuery(tables.linksources, again, path)})
  WHERE again AND revision > ${passed}
  GROUP BY ALL
) s ON l.source_host_key = s.source_host_key AND l.source_url_key = s.source_url_key
  AND coalesce(l.revision, 0) < s.told`;
}

/** Rows of `inlinks` that the buckets of the crawldb have not taken up. */
export function liveInlinksQuery(
  files: readonly FileRef[],
  inlinks: readonly FileRef[],
  path: FilePath,
): string {
  if (inlinks.length === 0) return filesQuery(tables.inlinks, inlinks, path);
  return `${filesQuery(tables.inlinks, inlinks, path)} WHERE ${liveCondition(seqTable(bucketsOf(files), 'links'))}`;
}

/**
 * What jobs ask besides the view: `crawldb_base` and `crawldb_delta`, of both the rows that are not in the frontier, and `crawldb_of('t')`, the rows whose keys stand
 * in the table t, and `crawldb_beside('t', 'u')`, those of them that do not stand in u. It looks through the deltas, then through the key column of the base, and reads further columns
 * only where a key was found; through the view every row of the base would meet every delta first. No WITH: a query over
 * the macro would then read all columns, whatever it asks for (measured 2026-11: 137,000 keys of a million cost 4.0 s of
 * processor time so, 0.35 s without).
 */
export function crawldbPartsQuery(all: readonly FileRef[], path: FilePath, hosts?: Hosts): string {
  const files = hosts === undefined ? all : filesOfHosts(all, hosts);
  const part = (query: string) => (hosts === undefined ? query : ofHosts(query, hosts));
  const base = files.filter((file) => !isDelta(file));
  const without = (list: string) => files.filter(({facts}) => facts?.list !== list);
  const visited = without('frontier');
  const seqs = base.filter(({facts}) => facts?.list === 'frontier'); // they tell what buckets have taken up
  return `${createView('crawldb_base', part(filesQuery(tables.crawldb, base, path)))}
${createView('crawldb_delta', part(deltaQuery(files, path)))}
${createView('crawldb_visited_base', `SELECT * FROM (${part(baseQuery(visited, path))}) WHERE NOT (${inFrontier})`)}
${createView('crawldb_visited_delta', `SELECT * FROM (${part(deltaQuery([...visited, ...seqs], path))}) WHERE NOT (${inFrontier})`)}
${rowsOf('crawldb_of(keys)', 'query_table(keys)')}
${rowsOf('crawldb_beside(keys, known)', '(SELECT k.host_key, k.url_key FROM query_table(keys) k ANTI JOIN query_table(known) USING (host_key, url_key))')}`;
}

function rowsOf(macro: string, keys: string): string {
  return `CREATE OR REPLACE MACRO ${macro} AS TABLE
SELECT d.* FROM crawldb_delta d SEMI JOIN (
  SELECT host_key, url_key, max(revision) AS revision
  FROM crawldb_delta SEMI JOIN ${keys} asked USING (host_key, url_key)
  GROUP BY ALL
) newest USING (host_key, url_key, revision)
UNION ALL
SELECT b.* FROM crawldb_base b SEMI JOIN (
  SELECT host_key, url_key FROM ${keys} ANTI JOIN (
    SELECT host_key, url_key FROM crawldb_delta SEMI JOIN ${keys} asked USING (host_key, url_key)
  ) newer USING (host_key, url_key)
) older USING (host_key, url_key);`;
}

/** The same over a crawldb that is in memory. */
export const crawldbOfMemory = `CREATE OR REPLACE MACRO crawldb_of(keys) AS TABLE
SELECT c.* FROM crawldb c SEMI JOIN query_table(keys) k USING (host_key, url_key);
CREATE OR REPLACE MACRO crawldb_beside(keys, known) AS TABLE
SELECT c.* FROM crawldb_of(keys) c ANTI JOIN query_table(known) k USING (host_key, url_key);
`;

/** A host's politeness, counts, robots.txt (the origin read last) and rules by hand, in one row. */
export const hostdbQuery = `SELECT
  host_key,
  coalesce(st.url_host_name, hs.url_host_name, hr.url_host_name) AS url_host_name,
  hs.url_host_registered_domain,
  hs.* EXCLUDE (host_key, url_host_name, url_host_registered_domain),
  st.* EXCLUDE (host_key, url_host_name, min_delay_ms),
  st.min_delay_ms,
  ro.* EXCLUDE (host_key),
  hr.blocked,
  hr.min_delay_ms AS rule_min_delay_ms,
  hr.max_connections AS rule_max_connections,
  hr.note AS rule_note,
  hr.changed_time AS rule_changed_time
FROM hoststate st
FULL JOIN hoststats hs USING (host_key)
FULL JOIN (
  SELECT
    host_key,
    count(*) AS robots_origins,
    arg_max(verdict, fetched_time) AS robots_verdict,
    arg_max(fetch_status, fetched_time) AS robots_fetch_status,
    max(fetched_time) AS robots_fetched_time,
    min(expires_time) AS robots_expires_time,
    min(unreachable_since) AS robots_unreachable_since,
    max(crawl_delay_s) AS robots_crawl_delay_s
  FROM robots GROUP BY host_key
) ro USING (host_key)
FULL JOIN (SELECT * FROM hostrules WHERE coalesce(applies_to, 'host') = 'host') hr USING (host_key)`;

/**
 * Captures under the column names of Common Crawl's index, in its order, so that a query written for it runs
 * here. `crawl` and `warc_segment` are the segment. Null, because not known here: the SURT key, private
 * suffixes, and the place in a WARC file.
 */
export const ccindexQuery = `SELECT
  CAST(NULL AS VARCHAR) AS url_surtkey,
  f.url,
  f.url_host_name,
  f.parts[-1] AS url_host_tld,
  f.parts[-2] AS url_host_2nd_last_part,
  f.parts[-3] AS url_host_3rd_last_part,
  f.parts[-4] AS url_host_4th_last_part,
  f.parts[-5] AS url_host_5th_last_part,
  CASE WHEN f.parts IS NOT NULL AND contains(f.url_host_registered_domain, '.')
    THEN regexp_replace(f.url_host_registered_domain, '^[^.]*[.]', '') END AS url_host_registry_suffix,
  f.url_host_registered_domain,
  CAST(NULL AS VARCHAR) AS url_host_private_suffix,
  CAST(NULL AS VARCHAR) AS url_host_private_domain,
  array_to_string(list_reverse(f.parts), '.') AS url_host_name_reversed,
  regexp_extract(f.url, '^([a-z][a-z0-9+.-]*):', 1) AS url_protocol,
  TRY_CAST(nullif(regexp_extract(f.url, '^[a-z]+://(?:\\[[^\\]]*\\]|[^/?#:]*):([0-9]+)', 1), '') AS INTEGER) AS url_port,
  regexp_extract(f.url, '^[a-z]+://[^/?#]*([^?#]*)', 1) AS url_path,
  CASE WHEN contains(f.url, '?') THEN regexp_extract(f.url, '[?]([^#]*)', 1) END AS url_query,
  f.fetch_time,
  f.fetch_status,
  f.fetch_redirect,
  f.content_digest,
  f.content_mime_type,
  p.content_mime_detected,
  p.content_charset,
  p.content_languages,
  f.content_truncated,
  CAST(NULL AS VARCHAR) AS warc_filename,
  CAST(NULL AS INTEGER) AS warc_record_offset,
  CAST(NULL AS INTEGER) AS warc_record_length,
  f.segment AS warc_segment,
  f.segment AS crawl,
  CASE WHEN f.kind = 'robots' THEN 'robotstxt' WHEN f.status = 'success' THEN 'warc' ELSE 'crawldiagnostics' END AS subset
FROM (
  SELECT *,
    CASE WHEN NOT regexp_matches(url_host_name, '^[0-9.]+$|[:\\[]') THEN string_split(url_host_name, '.') END AS parts
  FROM captures
  WHERE fetch_status IS NOT NULL
) f
LEFT JOIN parse p USING (capture_id)`;

/**
 * Links of current parses with what updatedb said of their targets (table `refusals`): a link that parse had accepted and
 * whose target was not added shows the reason, and is not accepted. Only segments that have such rows are joined, and URLs
 * are compared only where some share their keys. All conditions are equalities: with another one beside them DuckDB 1.5
 * compares each link with each row (measured 2026-12: 200,000 links were not through in ten minutes).
 */
export function outlinksQuery(
  links: readonly FileRef[],
  refused: readonly FileRef[],
  path: FilePath,
): string {
  const told = new Set(refused.map(segmentOf));
  const plain = links.filter((file) => !told.has(segmentOf(file)));
  const joined = links.filter((file) => told.has(segmentOf(file)));
  if (joined.length === 0) return filesQuery(tables.outlinks, links, path);
  const clashes = refused.filter((file) => file.facts?.clashes !== false);
  const of = (name: string) =>
    `ON ${name}.segment = l.segment AND ${name}.parse_id = l.parse_id AND ${name}.host_key = l.to_host_key AND ${name}.url_key = l.to_url_key`;
  const rows = (files: readonly FileRef[], which: string) =>
    `(SELECT * FROM (${filesQuery(tables.refusals, files, path)}) WHERE reason ${which} 'key_clash')`;
  const reason = clashes.length === 0 ? 'r.reason' : 'coalesce(r.reason, k.reason)';
  const query = `SELECT l.* REPLACE (
  l.accepted AND ${reason} IS NULL AS accepted, CASE WHEN l.accepted THEN ${reason} ELSE l.reason END AS reason
)
FROM (${filesQuery(tables.outlinks, joined, path)}) l
LEFT JOIN ${rows(refused, '<>')} r ${of('r')}${
    clashes.length === 0 ? '' : `\nLEFT JOIN ${rows(clashes, '=')} k ${of('k')} AND k.url = l.to_url`
  }`;
  return plain.length === 0 ? query : `${query}\nUNION ALL\n${filesQuery(tables.outlinks, plain, path)}`;
}

function segmentOf({key}: FileRef): string {
  return key.split('/')[1]!;
}

/** CREATE VIEW for a query, replacing a view of that name. */
export function createView(name: string, query: string): string {
  return `CREATE OR REPLACE VIEW ${sqlName(name)} AS\n${query};\n`;
}

/** The same for rows that are read once: a view of a table in memory. */
export function createTable(name: string, query: string): string {
  const table = sqlName(`${name} in memory`);
  return `CREATE OR REPLACE TABLE ${table} AS\n${query};\n${createView(name, `SELECT * FROM ${table}`)}`;
}
