import type {Config} from '../../lib/config/settings.ts';
import type {HopType} from '../../lib/schema/status.ts';
import type {Row, Table} from '../../lib/schema/table.ts';
import {makeScope, type Stay} from '../../lib/scope/scope.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import {identify} from '../../lib/url/keys.ts';
import {normalizeUrl, type UrlPolicy, urlPolicy} from '../../lib/url/normalize.ts';
import type {PolicyTexts} from '../config/policy-texts.ts';
import {rowsTable} from '../crawldb/writer.ts';
import type {TaskContext} from '../job.ts';

/**
 * Captures by the rules of today: `crawl mergesegs --normalize` gives their URLs the form that `crawl rekey` has given
 * those of the crawldb, `--filter` leaves out what the scope refuses. In both what has no form any more is left out.
 */
export interface UrlRules {
  readonly filter: boolean;
  readonly normalize: boolean;
  readonly config: Pick<Config, 'url' | 'scope' | 'links'>;
  readonly texts: PolicyTexts;
}

/**
 * Makes the tables `form`, URLs of the query whose form is another one now, by their old keys, and `refused`, those that
 * have none. Memory: one batch.
 */
export async function readForms(
  db: Database,
  ctx: TaskContext,
  query: string,
  rules: UrlRules | null,
): Promise<void> {
  const key = {type: 'key'} as const;
  const text = {type: 'text'} as const;
  const form = await rowsTable(db, 'form', {
    old_host_key: key,
    old_url_key: key,
    host_key: key,
    url_key: key,
    url: text,
    url_host_name: text,
    url_host_registered_domain: text,
  });
  const refused = await rowsTable(db, 'refused', {host_key: key, url_key: key});
  if (rules?.normalize !== true) return;
  const policy = urlPolicy(rules.config.url, rules.texts.urlRules);
  for await (const batch of db.stream(query)) {
    ctx.signal.throwIfAborted();
    const rows = batch as unknown as {host_key: bigint; url_key: bigint; url: string}[];
    const known = rows.map((row) => ({row, now: normalizeUrl(row.url, policy)}));
    await form.insert(
      known.flatMap(({row, now}) =>
        'url' in now && now.url !== row.url
          ? [{old_host_key: row.host_key, old_url_key: row.url_key, ...identify(now.url)}]
          : [],
      ),
    );
    await refused.insert(known.flatMap(({row, now}) => ('url' in now ? [] : [row])));
  }
}

interface ScopedUrl {
  readonly host_key: bigint;
  readonly url_key: bigint;
  readonly url: string;
  /** Of its row in the crawldb; null where it is none. */
  readonly depth: number | null;
  readonly hop_type: HopType | null;
  readonly seed: string | null;
  readonly discovered_from: string | null;
  readonly scope: Stay | null;
}

/** Adds to the table `refused` what the scope refuses of the URLs of a query. Memory: one batch. */
export async function askScope(
  db: Database,
  ctx: TaskContext,
  query: string,
  {config, texts}: UrlRules,
): Promise<void> {
  const scope = makeScope(config.scope, config.url, config.links, texts.scopeFiles);
  for await (const batch of db.stream(query)) {
    ctx.signal.throwIfAborted();
    const rows = (batch as unknown as ScopedUrl[]).filter(
      ({url, depth, hop_type, seed, discovered_from, scope: seedScope}) =>
        !scope.check({
          url,
          depth: depth ?? 0,
          hopType: hop_type ?? 'L',
          ...(discovered_from !== null && {from: discovered_from}),
          seed,
          seedScope,
        }).accepted,
    );
    await db.insert(
      'refused',
      {host_key: {type: 'key'}, url_key: {type: 'key'}},
      rows.map(({host_key, url_key}) => ({host_key, url_key})),
    );
  }
}

/** What changes in a row when its URLs get the form of today; nothing where there are no such rules. */
export function inNewForm(rules: UrlRules | null): <T extends Table>(row: Row<T>) => Partial<Row<T>> {
  if (rules?.normalize !== true) return () => ({});
  const policy = urlPolicy(rules.config.url, rules.texts.urlRules);
  return (row) => renamed(row, policy) as Partial<typeof row>; // its columns, with values of their types
}

function renamed(row: Readonly<Record<string, unknown>>, policy: UrlPolicy): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const column of ['url', 'from_url', 'to_url', 'fetch_redirect', 'canonical_url']) {
    const url = row[column];
    if (typeof url !== 'string') continue;
    const now = normalizeUrl(url, policy);
    if (!('url' in now) || now.url === url) continue;
    changed[column] = now.url;
    if (!column.endsWith('url') || column === 'canonical_url') continue; // these have no keys
    const prefix = column.slice(0, -'url'.length);
    for (const [name, value] of Object.entries(identify(now.url)))
      if (`${prefix}${name}` in row) changed[`${prefix}${name}`] = value;
  }
  return changed;
}
