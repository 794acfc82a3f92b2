import {KeyFilter} from '../../lib/fetcher/key-filter.ts';
import type {KnownTargets} from '../../lib/fetcher/settings.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {type DatabaseParams, databaseParams, openTaskDatabase, rowsTable} from '../crawldb/writer.ts';
import type {Task, TaskContext} from '../job.ts';
import type {FetchParams} from './task.ts';

/**
 * URLs of this fetch's domains that the crawl knows and that are not due. A redirect to one is recorded, and its
 * target keeps its own time. Read with the first redirect: most rounds of a small crawl have none. Memory: two bytes a
 * URL. One in a thousand other targets is taken for known; updatedb makes it due at once.
 */
export function knownTargets(task: Task, {part, config}: FetchParams, ctx: TaskContext): KnownTargets {
  let loading: Promise<void> | undefined;
  let filter: KeyFilter | undefined;
  return {
    load: () => {
      loading ??= readKeys(task, part, databaseParams(config), ctx).then(
        (read) => {
          filter = read;
        },
        (error: unknown) => {
          // A fetch that is being stopped asks for no more targets.
          if (!ctx.signal.aborted) throw error;
        },
      );
      return loading;
    },
    has: (urlKey) => filter?.has(urlKey) ?? false,
  };
}

/** Kept in a table: the filter has to know their number before the first, and the crawldb is looked through once. */
const notDue = `
  CREATE TABLE not_due AS
  SELECT url_key FROM crawldb SEMI JOIN domain USING (url_host_registered_domain)
  WHERE next_fetch_time > $now`;

async function readKeys(
  task: Task,
  part: number,
  database: DatabaseParams,
  ctx: TaskContext,
): Promise<KeyFilter | undefined> {
  const crawldb = task.inputs.filter((file) => file.table === 'crawldb');
  if (crawldb.length === 0) return undefined;
  const db = await openTaskDatabase({...task, inputs: crawldb}, ctx, database, ['crawldb'], {asViews: true});
  try {
    const domains = await rowsTable(db, 'domain', {url_host_registered_domain: {type: 'text'}});
    const rows = [...(await domainsOf(task, part, ctx))].map((name) => ({url_host_registered_domain: name}));
    await domains.insert(rows);
    await db.run(notDue, {now: new Date(ctx.now())});
    const [count] = await db.all<{n: number}>('SELECT count(*) AS n FROM not_due');
    const filter = new KeyFilter(count?.n ?? 0);
    for await (const keys of db.stream('SELECT url_key FROM not_due'))
      for (const {url_key} of keys) filter.add(url_key as bigint); // the column of the query
    return filter;
  } finally {
    await db.close();
  }
}

async function domainsOf(task: Task, part: number, ctx: TaskContext): Promise<Set<string>> {
  const domains = new Set<string>();
  const columns = ['partition', 'url_host_registered_domain'] as const;
  for (const file of task.inputs)
    if (file.table === fetchlist.name)
      for await (const rows of readTable(fetchlist, ctx.store.path(file), {columns}))
        for (const row of rows) if (row.partition === part) domains.add(row.url_host_registered_domain);
  return domains;
}
