import {join} from 'node:path';
import type {Config} from '../lib/config/settings.ts';
import type {Log} from '../lib/effects.ts';
import {parseHours} from '../lib/fetcher/hours.ts';
import {connectionLimit} from '../lib/http/descriptors.ts';
import {fetchlist} from '../lib/schema/fetchlist.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {readTable} from '../lib/store/parquet-read.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {urlPolicy} from '../lib/url/normalize.ts';
import {contactRule} from './config/contact-rule.ts';
import {readPolicyTexts} from './config/policy-texts.ts';
import {heldPolicy} from './config/url-policy.ts';
import {mergeHosts} from './fetch/hosts.ts';
import {isProven, partFolders} from './fetch/journals.ts';
import {type FetchParams, fetchTask} from './fetch/task.ts';
import {readCredentials, readProxies} from './http/credentials.ts';
import {defineJob, type Task, type TaskResult} from './job.ts';

/**
 * Gets the URLs of a segment, politely (Nutch: Fetcher): one task a partition of the fetchlist, then one that
 * brings the state of hosts together. Each URL of the fetchlist ends as exactly one row.
 *
 * Outcomes go into a journal at once. On SIGINT, SIGTERM or a disk that is nearly full no more URLs are taken,
 * running requests get ten seconds, and the segment stays `fetching`: its journal holds what is done, and the
 * next fetch of the segment goes on from there, as it does after a crash. When all is done the journal is turned
 * into the tables fetch and content, and committed with robots and hoststate.
 */
export const fetch = defineJob({
  name: 'fetch',
  summary: 'Fetch the URLs of a segment politely.',
  options: {
    segment: {kind: 'text', doc: 'Segment to fetch; the oldest generated or half-fetched one if absent.'},
    window: {kind: 'duration', doc: 'Longest time of this fetch; what is left is recorded as skipped.'},
    concurrency: {kind: 'count', min: 1, doc: 'Requests at once, in place of fetch.max_active.'},
    close: {
      kind: 'flag',
      default: false,
      doc: 'Ask for nothing more: end the segment, and record what is left as skipped.',
    },
  },
  locks: (options) => ['fetching', ...(options.segment === undefined ? [] : [`segment:${options.segment}`])],

  async plan(options, effects) {
    const {snapshot, config, store, log} = effects;
    const segment = options.segment ?? oldestUnfetched(snapshot);
    if (segment === undefined) {
      log('info', 'nothing_to_fetch', {advice: 'crawl generate makes a segment'});
      return undefined;
    }
    const info = snapshot.segment(segment);
    if (info.state === 'fetched') {
      log('info', 'already_fetched', {segment});
      return undefined;
    }
    // Bad values are told before anything is asked.
    parseHours(config.fetch.hours);
    await readCredentials(config, {env: effects.env, dir: store.dir});
    await readProxies(config, {env: effects.env, dir: store.dir});
    const texts = await readPolicyTexts(config, store.dir);
    heldPolicy(snapshot, urlPolicy(config.url, texts.urlRules));
    const lists = await snapshot.files(`segments/${segment}/fetchlist`);
    if (config.agent.contact === undefined && !options.close) await refuseToLeave(snapshot, lists, config);
    const journals = await unfinishedJournals(snapshot);
    const shared = {
      segment,
      partitions: info.partitions,
      windowMs: options.window ?? config.fetch.window ?? null,
      maxActive: withinDescriptors(options.concurrency ?? config.fetch.max_active, log),
      closed: options.close,
      config,
      texts,
      journals: journals.map(({folder}) => folder),
      proven: journals.every(({proven}) => proven),
    };
    const inputs = [
      ...lists,
      ...(await snapshot.files('robots')),
      ...(await snapshot.files('hoststate')),
      ...(await snapshot.files('hoststats')),
      ...(await snapshot.files('hostrules')),
      ...(await snapshot.files('seeds')),
      ...(await snapshot.files('crawldb')),
      ...(config.storage.dedup ? await snapshot.tableFiles('content') : []),
    ];
    const tasks = Array.from({length: info.partitions}, (_, part): Task => {
      const params: FetchParams = {...shared, part};
      return {stage: 0, part, inputs, params: {...params}};
    });
    log('info', 'fetch_planned', {segment, urls: info.urls, hosts: info.hosts, state: info.state});
    return {base: snapshot.manifest.number, now: effects.now(), segment, tasks};
  },

  run: (task, ctx) => (task.stage === 0 ? fetchTask(task, ctx) : mergeHosts(task, ctx)),

  next(plan, stage, results) {
    const segment = plan.segment!;
    if (stage === 0 && results.some(({facts}) => facts?.stopped !== null))
      return {
        edit: {reads: [`segments/${segment}`], writes: {}, segments: {[segment]: {state: 'fetching'}}},
      };
    if (stage === 0) return {tasks: [mergeTask(plan.tasks[0]!, results)]};
    const {files, facts} = results[0]!;
    const of = (table: string) => files.filter((file) => file.table === table);
    return {
      edit: {
        reads: [`segments/${segment}`, `segments/${segment}/fetchlist`, 'robots', 'hoststate'],
        writes: {
          [`segments/${segment}/fetch`]: of('fetch'),
          [`segments/${segment}/content`]: of('content'),
          robots: of('robots'),
          hoststate: of('hoststate'),
        },
        segments: {[segment]: {state: 'fetched', fetched_time: String(facts!.fetchedTime)}},
      },
    };
  },
});

/** Brings old and new states of hosts together, and hands the segment's files on to the edit. */
function mergeTask(first: Task, results: readonly TaskResult[]): Task {
  const files = results.flatMap((result) => result.files);
  const isOfHosts = ({table}: FileRef) => table === 'robots' || table === 'hoststate';
  return {
    stage: 1,
    part: 0,
    inputs: [...first.inputs.filter(isOfHosts), ...files.filter(isOfHosts)],
    params: {
      config: first.params.config,
      files: files.filter((file) => !isOfHosts(file)),
    },
  };
}

/** Requests at once that there are descriptors for. */
function withinDescriptors(wanted: number, log: Log): number {
  const most = connectionLimit();
  if (wanted <= most) return wanted;
  const advice = 'raise the hard limit of open files (ulimit -Hn, LimitNOFILE)';
  log('warn', 'open_files_limit', {max_active: wanted, requests_at_once: most, advice});
  return most;
}

/** Journals of segments that are not fetched to their end: folders below that of the crawl. */
async function unfinishedJournals(snapshot: Snapshot) {
  const {dir} = snapshot.store;
  const found: {folder: string; proven: boolean}[] = [];
  for (const id of snapshot.segments)
    if (snapshot.segment(id).state !== 'fetched')
      for (const folder of await partFolders(dir, id))
        found.push({folder, proven: await isProven(join(dir, folder))});
  return found;
}

function oldestUnfetched(snapshot: Snapshot): string | undefined {
  return snapshot.segments.find((id) => snapshot.segment(id).state !== 'fetched');
}

/** Without a contact nothing but this machine is asked. */
async function refuseToLeave(snapshot: Snapshot, lists: readonly FileRef[], config: Config): Promise<void> {
  const check = contactRule(config);
  for (const file of lists)
    for await (const rows of readTable(fetchlist, snapshot.store.path(file), {columns: ['url']}))
      for (const {url} of rows) check(url);
}
