import {join} from 'node:path';
import type {Fetcher} from '../../lib/fetcher/fetcher.ts';
import {KeyMap} from '../../lib/fetcher/key-map.ts';
import {politenessColumns, Replay} from '../../lib/fetcher/replay.ts';
import type {KnownTargets} from '../../lib/fetcher/settings.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import {type HostRuleRow, hostrules, hoststate, hoststats, robots} from '../../lib/schema/hostdb.ts';
import {seeds} from '../../lib/schema/seeds.ts';
import type {Table} from '../../lib/schema/table.ts';
import type {Stay} from '../../lib/scope/scope.ts';
import {journalHistory, journalOutcomes} from '../../lib/store/journal-read.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {hostOf, registeredDomain} from '../../lib/url/host.ts';
import type {Task, TaskContext} from '../job.ts';
import {partFolder} from './journals.ts';
import type {FetchParams} from './task.ts';

/** Fills the fetcher: the partition's URLs, what is known of their hosts, what the journal proves. */
export async function loadFetcher(
  fetcher: Fetcher,
  task: Task,
  {segment, part, config, journals, proven}: FetchParams,
  ctx: TaskContext,
  notDue: KnownTargets,
): Promise<void> {
  const {work} = fetcher;
  const {dir} = ctx.store;
  const folder = partFolder(dir, segment, part);
  const {done, begun} = await doneBefore(folder);
  for await (const row of rowsOf(task, ctx, fetchlist))
    if (row.partition === part) work.add(row, done.get(row.url_key) !== undefined);
  for await (const row of rowsOf(task, ctx, hoststate)) work.hosts.restore(row, fetcher.now());
  for await (const row of rowsOf(task, ctx, hoststats)) {
    const host = work.hosts.reached(row.url_host_name, row.host_key);
    if (host) host.pages += row.pages_fetched;
  }
  const rules: HostRuleRow[] = [];
  for await (const row of rowsOf(task, ctx, hostrules)) rules.push(row);
  if (rules.length > 0) work.hosts.applyRules(rules);
  // Of all that is known, what this fetch may come to: hops stay on its registered domains.
  for await (const row of rowsOf(task, ctx, robots))
    if (work.hosts.hasDomain(registeredDomain(hostOf(row.origin)))) work.robots.load(row);
  const replay = new Replay(work, config);
  // Of all parts: each segment has its own division of domains, and robots.txt is asked for over its bounds.
  for (const theirs of journals.map((name) => join(dir, name)))
    if (theirs !== folder)
      for await (const rows of journalOutcomes(theirs, politenessColumns))
        for (const row of rows) replay.takePoliteness(row, fetcher.now());
  if (begun) {
    await notDue.load();
    for await (const {row, payload} of journalHistory(folder)) replay.take(row, payload, fetcher.now());
  }
  replay.finish(proven, fetcher.now());
  if (!begun) return;
  ctx.log('info', 'fetch_resumed', {segment, done: work.worklist.done, left: work.queues.waiting, proven});
}

/** URLs of the fetchlist that have their outcome in the journal. */
async function doneBefore(folder: string): Promise<{done: KeyMap; begun: boolean}> {
  const done = new KeyMap();
  let begun = false;
  for await (const rows of journalOutcomes(folder, ['kind', 'url_key']))
    for (const row of rows) {
      begun = true;
      if (row.kind === 'page' || row.kind === 'sitemap') done.set(row.url_key, 0);
    }
  return {done, begun};
}

/** How far links may lead from a seed, by its URL. */
export async function seedScopes(task: Task, ctx: TaskContext): Promise<Map<string, Stay>> {
  const scopes = new Map<string, Stay>();
  for await (const {url, scope} of rowsOf(task, ctx, seeds))
    if (url !== null && scope !== null) scopes.set(url, scope);
  return scopes;
}

async function* rowsOf<T extends Table>(task: Task, ctx: TaskContext, table: T) {
  for (const file of task.inputs)
    if (file.table === table.name)
      for await (const rows of readTable(table, ctx.store.path(file))) yield* rows;
}
