import type {Config} from '../../lib/config/settings.ts';
import {balanceDomains} from '../../lib/crawldb/partition.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import type {Forecast} from '../../lib/selection/selection.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {rowsTable} from '../crawldb/writer.ts';
import type {TaskContext} from '../job.ts';
import {type NewHost, selectionSql} from './steps.ts';

/** A segment that was made. */
export interface MadeSegment {
  readonly id: string;
  readonly urls: number;
  readonly hosts: number;
  readonly partitions: number;
}

/** Writes the rows of `chosen` that are of list `part`, a file for each partition. Null where there are none. */
export async function writeFetchlist(
  db: Database,
  ctx: TaskContext,
  part: number,
  id: string,
  partitions: number,
): Promise<{made: MadeSegment; files: FileRef[]} | null> {
  const domains = await db.all<{domain: string; urls: number; hosts: number}>(
    `SELECT url_host_registered_domain AS domain, count(*) AS urls, count(DISTINCT host_key) AS hosts
     FROM chosen WHERE part = $part GROUP BY ALL ORDER BY domain`,
    {part},
  );
  if (domains.length === 0) return null;
  const placed = balanceDomains(domains, Math.min(partitions, domains.length));
  const name = `partition_${part}`;
  const table = await rowsTable(db, name, {domain: {type: 'text'}, partition: {type: 'int32'}});
  await table.insert([...placed].map(([domain, partition]) => ({domain, partition})));
  const count = new Set(placed.values()).size;
  const files: FileRef[] = [];
  for (let partition = 0; partition < count; partition++)
    files.push(
      await db.copy(
        `SELECT $id AS segment, p.partition, c.* EXCLUDE (part)
         FROM chosen c JOIN ${name} p ON p.domain = c.url_host_registered_domain
         WHERE c.part = $part AND p.partition = $partition ORDER BY rank`,
        {id, part, partition},
        await ctx.store.create(fetchlist, `segments/${id}/fetchlist`),
        {facts: {segment: id, partition}},
      ),
    );
  const sum = (column: 'urls' | 'hosts') => domains.reduce((total, row) => total + row[column], 0);
  return {made: {id, urls: sum('urls'), hosts: sum('hosts'), partitions: count}, files};
}

/** Chosen: a page as it comes compressed, where none was ever fetched. */
const firstPageBytes = 30_000;
/** Chosen: rows of fetch, parse and outlinks of a page, beside its payload. */
const rowBytes = 9000;
const slowestHosts = 10;

/** What bounds a fetch over all hosts. */
export interface FetchLimits {
  /** Requests at once. */
  readonly maxActive: number;
  /** Requests a second. */
  readonly maxRate: number | undefined;
  /** Payload bytes a second. */
  readonly maxBandwidth: number | undefined;
}

export function fetchLimits({fetch}: Pick<Config, 'fetch'>): FetchLimits {
  return {maxActive: fetch.max_active, maxRate: fetch.max_rate, maxBandwidth: fetch.max_bandwidth};
}

/**
 * What the fetch of list `part` will take: as long as the host that takes longest, or as long as the limits over all
 * hosts make it, whichever is more. Tables: chosen, host.
 */
export async function forecastOf(
  db: Database,
  part: number,
  newHost: NewHost,
  {maxActive, maxRate, maxBandwidth}: FetchLimits,
): Promise<Forecast> {
  const hosts = await db.all<{
    host: string;
    urls: number;
    duration_ms: number;
    requests: number;
    busy_ms: number;
    bytes: number;
  }>(selectionSql.forecast, {
    part,
    new_lead_ms: newHost.leadMs,
    new_turn_ms: newHost.turnMs,
    new_pause_ms: newHost.pauseMs,
    usual_page_bytes: firstPageBytes,
  });
  const sum = (column: 'urls' | 'requests' | 'busy_ms' | 'bytes') =>
    hosts.reduce((total, row) => total + row[column], 0);
  const requests = sum('requests');
  const bytes = Math.round(sum('bytes'));
  const durations = [
    hosts[0]?.duration_ms ?? 0,
    sum('busy_ms') / maxActive,
    maxRate === undefined ? 0 : (requests / maxRate) * 1000,
    maxBandwidth === undefined ? 0 : (bytes / maxBandwidth) * 1000,
  ];
  return {
    requests,
    bytes,
    disk_bytes: bytes + sum('urls') * rowBytes,
    duration_ms: Math.round(Math.max(...durations)),
    slowest: hosts
      .slice(0, slowestHosts)
      .map(({host, urls, duration_ms}) => ({host, urls, duration_ms: Math.round(duration_ms)})),
  };
}
