import {writeBucket} from '../../jobs/crawldb/writer.ts';
import {defineJob, type TaskContext} from '../../jobs/job.ts';
import {bucketsFor} from '../../lib/crawldb/compaction.ts';
import {rangeOf} from '../../lib/crawldb/layout.ts';
import type {Table} from '../../lib/schema/table.ts';
import {tables} from '../../lib/schema/tables.ts';
import {type Database, openDatabase} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';

/**
 * A made-up crawldb of any size, and rounds over it. Hosts of Zipf size (exponent 0.8, 50 URLs each on average, the
 * largest 1 % of all); URLs of about 70 characters; 20 % fetched, 75 % never, 5 % gone or redirects; scores as our
 * own rule gives them (0.85 a link, so that many are equal) or all different. Of a page's links 80 % stay on the host
 * and 10 % lead to new URLs. Everything follows from numbers, so that a run can be repeated.
 */
export interface World {
  readonly rows: number;
  readonly ties: boolean;
  /** Now, ms since the epoch. */
  readonly now: number;
  /** Hosts, whose politeness is made up, too; if absent a fiftieth of the rows, of which nothing is known. */
  readonly hosts?: number;
}

const hosts = ({rows, hosts}: World): number => hosts ?? Math.max(10, Math.round(rows / 50));
/** A number from 0 to 1 by chance, always the same for the same numbers. */
const chance = (...numbers: string[]) => `(hash(${numbers.join(', ')}) / 18446744073709551616.0)`;

/** Host of URL `i`, and the first URL of host `k`: URLs are numbered host by host, the largest first. */
const hostOf = (world: World, i: string) =>
  `floor(pow(((${i}) / ${world.rows}.0) * ${hosts(world) ** 0.2 - 1} + 1, 5))::BIGINT`;
const firstOf = (world: World, k: string) =>
  `(${world.rows}.0 * (pow(${k}, 0.2) - 1) / ${hosts(world) ** 0.2 - 1})`;

const hostName = (k: string) => `('www.site' || ${k} || '.test')`;
const urlOf = (k: string, id: string) =>
  `('https://' || ${hostName(k)} || '/' || ['news', 'products', 'archive', 'forum'][1 + (${id} % 4)] || '/' || (${id} % 977) || '/a-title-of-some-words-' || ${id})`;

/** A select list of all columns of a table: given expressions, else null or a zero. */
function columns(table: Table, given: Readonly<Record<string, string>>): string {
  const zero: Readonly<Record<string, string>> = {
    text: `''`,
    json: `''`,
    bytes: `''::BLOB`,
    boolean: 'false',
    timestamp: `TIMESTAMPTZ '2026-01-01 00:00:00Z'`,
  };
  return Object.entries(table.columns)
    .map(
      ([name, {type, nullable}]) =>
        `${given[name] ?? (nullable ? 'NULL' : (zero[type] ?? '0'))} AS "${name}"`,
    )
    .join(', ');
}

function crawldbColumns({ties, now}: World): string {
  const time = (ms: string) => `make_timestamptz(1000 * (${Math.round(now)} + (${ms})::BIGINT))`;
  const day = '86400000.0';
  const c = chance('id', '1');
  const fetched = `(${c} < 0.2)`;
  const seen = `(${c} < 0.25)`;
  const depth = `(1 + floor(7 * sqrt(${chance('id', '2')})))::INTEGER`;
  const answered = (value: string) => `CASE WHEN ${fetched} THEN ${value} END`;
  return columns(tables.crawldb, {
    host_key: 'host_key',
    url_key: `hash(${urlOf('k', 'id')})`,
    url: urlOf('k', 'id'),
    url_host_name: hostName('k'),
    url_host_registered_domain: `('site' || k || '.test')`,
    status: `CASE WHEN ${fetched} THEN 'fetched' WHEN ${c} < 0.23 THEN 'gone' WHEN ${seen} THEN 'redir_perm' ELSE 'unfetched' END`,
    reason: `CASE WHEN NOT ${fetched} AND ${seen} THEN CASE WHEN ${c} < 0.23 THEN 'http_404' ELSE 'redirect' END END`,
    score: ties ? `pow(0.85, ${depth})` : `pow(0.85, ${depth}) * (0.5 + ${chance('id', '3')})`,
    depth,
    seed: `('https://www.site' || (k % 1000) || '.test/')`,
    hop_type: `'L'`,
    discovered_time: time(`-200 * ${day} * ${chance('id // 10', '4')}`),
    discovered_from: urlOf('k', '(id // 10)'),
    fetch_interval_s: '2592000',
    next_fetch_time: `CASE WHEN ${seen} THEN ${time(`${day} * (90 * ${chance('id', '5')} - 5)`)} ELSE ${time(`-200 * ${day} * ${chance('id // 10', '4')}`)} END`,
    fetch_time: `CASE WHEN ${seen} THEN ${time(`-${day} * 60 * ${chance('id', '5')}`)} END`,
    fetch_segment: `CASE WHEN ${seen} THEN '202601' || lpad((hash(id) % 28 + 1)::VARCHAR, 2, '0') || '000000' END`,
    fetch_status: `CASE WHEN ${fetched} THEN 200 WHEN ${c} < 0.23 THEN 404 WHEN ${seen} THEN 301 END`,
    last_success_time: answered(time(`-${day} * 60 * ${chance('id', '5')}`)),
    last_success_segment: answered(`'202601' || lpad((hash(id) % 28 + 1)::VARCHAR, 2, '0') || '000000'`),
    modified_time: answered(time(`-${day} * 60 * ${chance('id', '5')}`)),
    content_digest: answered(`upper(substr(md5(id::VARCHAR) || md5(id::VARCHAR || 'x'), 1, 32))`),
    signature: answered(`unhex(md5(id::VARCHAR || 's'))`),
    text_signature: answered(`unhex(md5(id::VARCHAR || 't'))`),
    simhash: answered(`hash(id, 6)`),
    etag: `CASE WHEN ${fetched} AND id % 5 < 2 THEN '"' || substr(md5(id::VARCHAR), 1, 16) || '"' END`,
    visits: `CASE WHEN ${fetched} THEN 1 ELSE 0 END`,
    inlinks: `(1 / (0.02 + ${chance('id', '7')}))::INTEGER`,
    updated_segment: `CASE WHEN ${seen} THEN '20260128000000' END`,
  });
}

/** A job that writes the base, in buckets, and the counts of hosts. */
export function baseJob(world: World) {
  return defineJob({
    name: 'bench-base',
    summary: 'Makes a crawldb up.',
    options: {},
    locks: () => [],
    async plan(_options, {snapshot}) {
      return {
        base: snapshot.manifest.number,
        now: world.now,
        tasks: [{stage: 0, part: 0, inputs: [], params: {}}],
      };
    },
    async run(_task, ctx) {
      const db = await openDatabase({memoryBytes: 2e9, spillDir: await ctx.store.scratch()});
      try {
        await db.run(`CREATE TABLE number AS SELECT i AS id, k, hash(${hostName('k')}) AS host_key
          FROM (SELECT i, ${hostOf(world, 'i')} AS k FROM range(${world.rows}) t(i))`);
        const files: FileRef[] = [];
        const buckets = bucketsFor(world.rows);
        for (let bucket = 0; bucket < buckets; bucket++) {
          const range = rangeOf(bucket, buckets);
          const rows = `SELECT ${crawldbColumns(world)} FROM number WHERE host_key BETWEEN ${range.first}::UBIGINT AND ${range.last}::UBIGINT`;
          files.push(...(await writeBucket(db, ctx, () => rows, range, {seq: 0, links: 0})));
        }
        const stats = columns(tables.hoststats, {
          host_key: 'host_key',
          url_host_name: hostName('k'),
          url_host_registered_domain: `('site' || k || '.test')`,
          urls: 'urls',
          unfetched: '(urls * 0.75)::BIGINT',
          fetched: 'urls // 5',
          pages_fetched: 'urls // 5',
        });
        const host = await db.copy(
          `SELECT ${stats} FROM (SELECT host_key, k, count(*) AS urls FROM number GROUP BY ALL) ORDER BY host_key`,
          {},
          await ctx.store.create(tables.hoststats, 'hosts/hoststats'),
        );
        const states = world.hosts === undefined ? [] : [await writeStates(db, ctx, world)];
        return {files: [...files, host, ...states], counters: {}, reasons: {}};
      } finally {
        await db.close();
      }
    },
    next(_plan, _stage, results) {
      const files = results[0]?.files ?? [];
      const of = (table: string) => files.filter((file) => file.table === table);
      const writes = {
        crawldb: of('crawldb'),
        hoststats: of('hoststats'),
        hoststate: of('hoststate'),
      };
      return {edit: {reads: [], writes, summary: {urls: world.rows}}};
    },
  });
}

/** Politeness of the hosts that were asked, four in five of all: answers of 50 to 400 ms, 2 % failed and rest. */
async function writeStates(db: Database, ctx: TaskContext, {now}: World): Promise<FileRef> {
  const latency = `(5 * (50 + 350 * ${chance('k', '21')}))`;
  const failed = `(${chance('k', '22')} < 0.02)`;
  const time = (ms: string) => `make_timestamptz(1000 * (${Math.round(now)} + (${ms})::BIGINT))`;
  const state = columns(tables.hoststate, {
    host_key: 'host_key',
    url_host_name: hostName('k'),
    next_allowed_time: `CASE WHEN ${failed} THEN ${time(`14400000 * ${chance('k', '23')}`)} ELSE ${time('-86400000')} END`,
    last_response_time: time('-86400000'),
    delay_ms: `greatest(1000, ${latency})`,
    delay_term: `'latency'`,
    min_delay_ms: '1000',
    latency_ms: latency,
    failures: `${failed}::INTEGER`,
    updated_segment: `'20260128000000'`,
  });
  return db.copy(
    `SELECT ${state} FROM (SELECT DISTINCT host_key, k FROM number WHERE ${chance('k', '20')} < 0.8) ORDER BY host_key`,
    {},
    await ctx.store.create(tables.hoststate, 'hosts/hoststate'),
  );
}

/**
 * A job that makes up what fetch and parse would write for a segment: 88 % fetched, 7 % gone, 5 % timed out; `links`
 * links a fetched page.
 */
export function roundJob(world: World, segment: string, round: number, links: number, digest: string) {
  const parse = 'p';
  return defineJob({
    name: 'bench-fetch',
    summary: 'Makes a fetch up.',
    options: {},
    locks: () => [],
    async plan(_options, {snapshot}) {
      const inputs = await snapshot.files(`segments/${segment}/fetchlist`);
      return {
        base: snapshot.manifest.number,
        now: world.now,
        tasks: [{stage: 0, part: 0, inputs, params: {}}],
      };
    },
    async run(task, ctx) {
      const db = await openDatabase({memoryBytes: 2e9, spillDir: await ctx.store.scratch()});
      try {
        const list = task.inputs.map((file) => `'${ctx.store.path(file)}'`).join(', ');
        await db.run(`CREATE TABLE page AS
          SELECT *, ${chance('url_key', `${round}`)} AS luck,
            regexp_extract(url, 'site([0-9]+)', 1)::BIGINT AS k, regexp_extract(url, '([0-9]+)$', 1)::BIGINT AS id
          FROM read_parquet([${list}])`);
        const made = {
          segment: `'${segment}'`,
          capture_id: `('c' || url_key)`,
          fetch_time: `make_timestamptz(1000 * (${world.now} + rank))`,
        };
        const names = {
          host_key: 'host_key',
          url_key: 'url_key',
          url: 'url',
          url_host_name: 'url_host_name',
          url_host_registered_domain: 'url_host_registered_domain',
        };
        const files: FileRef[] = [];
        const copy = async (table: Table, place: string, select: string) => {
          files.push(await db.copy(select, {}, await ctx.store.create(table, place)));
        };
        await copy(
          tables.fetch,
          `segments/${segment}/fetch`,
          `SELECT ${columns(tables.fetch, {
            ...names,
            ...made,
            kind: `'page'`,
            status: `CASE WHEN luck < 0.88 THEN 'success' WHEN luck < 0.95 THEN 'gone' ELSE 'retry' END`,
            reason: `CASE WHEN luck >= 0.95 THEN 'timeout' WHEN luck >= 0.88 THEN 'http_404' END`,
            fetch_status: `CASE WHEN luck < 0.88 THEN 200 WHEN luck < 0.95 THEN 404 END`,
            content_digest: `CASE WHEN luck < 0.88 THEN upper(md5(url)) END`,
            content_segment: `CASE WHEN luck < 0.88 THEN '${segment}' END`,
            content_length: '20000',
            origin_url: 'url',
            depth: 'depth',
            seed: 'seed',
          })} FROM page`,
        );
        await copy(
          tables.parse,
          `segments/${segment}/parse/${parse}`,
          `SELECT ${columns(tables.parse, {
            host_key: 'host_key',
            url_key: 'url_key',
            url: 'url',
            segment: made.segment,
            capture_id: made.capture_id,
            parse_id: `'${parse}'`,
            status: `'success'`,
            signature: `unhex(md5(CASE WHEN id % 20 = 0 THEN (id % 100000)::VARCHAR ELSE url END))`,
            text_signature: `unhex(md5(url || 't'))`,
            simhash: 'url_key',
          })} FROM page WHERE luck < 0.88`,
        );
        const away = chance('id', 'n', '11');
        const fresh = `(${chance('id', 'n', '12')} < 0.1)`;
        await db.run(`CREATE TABLE link AS
          SELECT * EXCLUDE (known), CASE WHEN ${fresh} THEN ${(round + 1) * 1e10} + (hash(id, n, 13) % ${Math.round(1e9)})::BIGINT ELSE known END AS to_id,
            CASE WHEN ${fresh} THEN to_k ELSE ${hostOf(world, 'known')} END AS to_k2
          FROM (
            SELECT *, least(${world.rows - 1}, floor(${firstOf(world, 'to_k')}
              + (${firstOf(world, '(to_k + 1)')} - ${firstOf(world, 'to_k')}) * pow(${chance('id', 'n', '14')}, 2)))::BIGINT AS known
            FROM (
              SELECT p.*, n, CASE WHEN ${away} < 0.8 THEN k ELSE ${hostOf(world, `${chance('id', 'n', '15')} * ${world.rows}`)} END AS to_k
              FROM page p, range(${links}) t(n) WHERE luck < 0.88
            )
          )`);
        await copy(
          tables.outlinks,
          `segments/${segment}/outlinks/${parse}`,
          `SELECT ${columns(tables.outlinks, {
            ...made,
            parse_id: `'${parse}'`,
            position: 'n',
            from_host_key: 'host_key',
            from_url_key: 'url_key',
            from_url: 'url',
            to_host_key: `hash(${hostName('to_k2')})`,
            to_url_key: `hash(${urlOf('to_k2', 'to_id')})`,
            to_url: urlOf('to_k2', 'to_id'),
            to_host_name: hostName('to_k2'),
            to_registered_domain: `('site' || to_k2 || '.test')`,
            kind: `'a'`,
            hop_type: `'L'`,
            depth: 'depth + 1',
            seed: 'seed',
            accepted: 'true',
            anchor: `('some words of an anchor ' || n)`,
            rules_digest: `'${digest}'`,
          })} FROM link`,
        );
        return {files, counters: {}, reasons: {}};
      } finally {
        await db.close();
      }
    },
    next(_plan, _stage, results) {
      const of = (table: string) => (results[0]?.files ?? []).filter((file) => file.table === table);
      return {
        edit: {
          reads: [],
          writes: {
            [`segments/${segment}/fetch`]: of('fetch'),
            [`segments/${segment}/parse/${parse}`]: of('parse'),
            [`segments/${segment}/outlinks/${parse}`]: of('outlinks'),
          },
          segments: {
            [segment]: {state: 'fetched', fetched_time: new Date(world.now).toISOString(), current: parse},
          },
        },
      };
    },
  });
}
