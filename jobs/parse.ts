import {availableParallelism} from 'node:os';
import {extname} from 'node:path';
import {CrawlError} from '../lib/errors.ts';
import {parseId} from '../lib/parse/version.ts';
import {fetch} from '../lib/schema/fetch.ts';
import {robots} from '../lib/schema/hostdb.ts';
import {seeds} from '../lib/schema/seeds.ts';
import type {Stay} from '../lib/scope/scope.ts';
import {type Voucher, voucherOf} from '../lib/sitemap/vouchers.ts';
import type {FileRef, SegmentInfo} from '../lib/store/manifest-types.ts';
import {readTable} from '../lib/store/parquet-read.ts';
import {isGivenName} from '../lib/store/parses.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {urlPolicy} from '../lib/url/normalize.ts';
import {readPolicyTexts} from './config/policy-texts.ts';
import {heldPolicy} from './config/url-policy.ts';
import {describeExtractors, type ExtractorOrder, threadOf} from './extract/describe.ts';
import {defineJob, type Task, type TaskResult} from './job.ts';
import {extractorsBeside, extractWrites} from './parse/extractors.ts';
import type {ParseParams} from './parse/task.ts';
import {checkTrial, cutRanges, type RowRange, selectRows} from './parse/where.ts';

/** Rows of a task, at most. Chosen: its two files come to 20 to 200 MB. */
const rowsPerTask = 10_000;
/** Rows of a task, at least, where a segment is split so that all workers have something to do. */
const leastRows = 500;

interface SegmentPlan {
  readonly segment: string;
  /** Version of the fetch slot that is parsed: kept with the files, so that rows that came later are noticed. */
  readonly fetchVersion: number;
  readonly tasks: number;
  readonly setCurrent: boolean;
  /** It takes the place of one of its name that invertlinks has seen. */
  readonly inverted: boolean;
  /** Where extractors alone run: the parse that they run beside. */
  readonly beside?: string;
  readonly extractors: readonly ExtractorOrder[];
}

interface ParseFacts {
  readonly parseId: string;
  /** Name that parser and configuration give. */
  readonly parser: string;
  readonly segments: readonly SegmentPlan[];
  /** The condition that chose the captures, where one did. */
  readonly where?: string;
}

/**
 * Reads what was fetched (Nutch: ParseSegment): text, metadata, signatures and links of every capture, from stored
 * payloads, never from the network. Results stand beside those of other parses of the segment, under the name of
 * the parse.
 *
 * Without options: every fetched segment that is not yet applied to the crawldb and lacks the present parse.
 */
export const parse = defineJob({
  name: 'parse',
  summary: 'Read fetched pages: text, metadata, signatures and links.',
  options: {
    segment: {kind: 'list', default: [], doc: 'Segments to parse; the fetched ones that need it if absent.'},
    as: {kind: 'text', doc: 'Name of the parse; its version and configuration if absent.'},
    all: {kind: 'flag', default: false, doc: 'All fetched segments, again where the parse is there already.'},
    stale: {
      kind: 'flag',
      default: false,
      doc: 'All fetched segments that lack the present parse, those applied to the crawldb too.',
    },
    with: {
      kind: 'list',
      default: [],
      doc: 'Extractors to run too, .ts, .js, .mjs or .yaml: on all fetched segments that lack their rows.',
    },
    where: {
      kind: 'text',
      doc: 'SQL condition over captures and their current parse: only these, under the name of --as.',
    },
  },
  locks: () => ['parse'],
  worker: new URL(`./parse/task${extname(import.meta.url)}`, import.meta.url),

  async plan(options, effects) {
    const {snapshot, config, store, log} = effects;
    if (options.all && options.stale)
      throw new CrawlError(
        'USAGE',
        '--all reads everything again, --stale only what is stale: give one of them',
      );
    const texts = await readPolicyTexts(config, store.dir);
    const policy = urlPolicy(config.url, texts.urlRules);
    if (options.as === undefined) heldPolicy(snapshot, policy);
    const present = parseId(config, policy.digest);
    const extractors = await describeExtractors(options.with, config, store.dir, effects);
    const everyExtractor = [...extractors.configured, ...extractors.given];
    const name = options.as ?? present;
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
      throw new CrawlError('USAGE', `--as ${name}: letters, digits, dots, dashes and underlines only`);
    const wanted = options.segment.length > 0 ? options.segment : snapshot.segments;
    const again = options.all || options.segment.length > 0 || options.where !== undefined;
    if (options.where !== undefined) checkTrial(options.as, present, wanted, snapshot);
    const chosen = options.where === undefined ? undefined : await selectRows(options.where, wanted, effects);

    const segments: SegmentPlan[] = [];
    const tasks: Task[] = [];
    const seedScopes = await readSeedScopes(snapshot);
    const vouchers = await readVouchers(snapshot);
    let stale = 0;
    const now = effects.now();
    let named = 0;
    const applied: string[] = [];
    for (const segment of wanted) {
      const info = snapshot.segment(segment);
      const slot = snapshot.manifest.slots[`segments/${segment}/fetch`];
      if (slot === undefined) {
        if (options.segment.length > 0)
          throw new CrawlError('SEGMENT_STATE', `segment ${segment} is not fetched yet (${info.state})`);
        continue;
      }
      const open = options.stale || !isApplied(info);
      const held = options.as === undefined && info.current !== undefined && isGivenName(info.current);
      if (held && !again) named++;
      const parsed = !again && (held || (await isParsed(snapshot, segment, name, slot.version)));
      let beside: string | undefined;
      let orders: readonly ExtractorOrder[] = everyExtractor;
      if (parsed || (!again && !open)) {
        beside = options.as ?? info.current ?? name;
        const state = {fetchVersion: slot.version, parser: present, now};
        const lack = await extractorsBeside(snapshot, segment, beside, extractors, state, open);
        if (!parsed || lack.held) stale++;
        if (lack.orders.length === 0) continue;
        orders = lack.orders;
      }
      if (beside === undefined && options.as !== undefined && info.applied === name) applied.push(segment);
      const params = {
        segment,
        parseId: beside ?? name,
        config: taskConfig(config),
        texts,
        seedScopes,
        vouchers,
        extractors: orders,
        parsed: beside !== undefined,
      };
      const own = await segmentTasks(
        snapshot,
        params,
        config.parse.workers ?? availableParallelism(),
        tasks.length,
        chosen,
      );
      if (own.length === 0) continue;
      tasks.push(...own);
      segments.push({
        segment,
        fetchVersion: slot.version,
        tasks: own.length,
        setCurrent:
          beside === undefined &&
          chosen === undefined &&
          (info.current === undefined || (name === present && !isGivenName(info.current))),
        inverted: beside === undefined && options.as !== undefined && info.inverted === name,
        ...(beside === undefined ? {} : {beside}),
        extractors: orders,
      });
    }
    if (applied.length > 0)
      throw new CrawlError(
        'PARSE_IN_USE',
        `the crawldb has the links of parse ${name}, so it cannot be replaced`,
        {
          facts: {parse: name, segments: applied},
          hint: 'Give another name, then crawl parse --use NAME && crawl updatedb.',
        },
      );
    if (stale > 0)
      log('info', 'segments_stale', {
        segments: stale,
        parse: name,
        advice: 'crawl parse --stale reads them again',
      });
    if (named > 0)
      log('info', 'segments_named', {
        segments: named,
        advice: 'they keep the parse that --use or --as chose',
      });
    if (tasks.length === 0) {
      log('info', 'nothing_to_parse', {parse: name});
      return undefined;
    }
    log('info', 'parse_planned', {
      parse: name,
      segments: segments.map(({segment}) => segment),
      tasks: tasks.length,
    });
    const facts: ParseFacts = {
      parseId: name,
      parser: present,
      segments,
      ...(options.where === undefined ? {} : {where: options.where}),
    };
    return {
      base: snapshot.manifest.number,
      now,
      ...(segments.length === 1 ? {segment: segments[0]!.segment} : {}),
      tasks,
      facts: {...facts},
    };
  },

  async run(task, ctx) {
    const {runTask} = await import('./parse/task.ts');
    return runTask(task, ctx);
  },

  next(plan, _stage, results) {
    const {parseId: name, parser, segments, where} = plan.facts as unknown as ParseFacts; // made by plan
    const writes: Record<string, readonly FileRef[]> = {};
    const changes: Record<string, Partial<SegmentInfo>> = {};
    let first = 0;
    for (const {segment, fetchVersion, tasks, setCurrent, inverted, beside, extractors} of segments) {
      const own = results.slice(first, first + tasks);
      first += tasks;
      const state = {fetchVersion, parser, now: plan.now, ...(where !== undefined && {where})};
      Object.assign(writes, extractWrites(own, segment, beside ?? name, extractors, state));
      if (beside !== undefined) continue;
      writes[`segments/${segment}/parse/${name}`] = filesOf(own, 'parse', {
        fetch_version: fetchVersion,
        ...(where !== undefined && {where}),
      });
      writes[`segments/${segment}/outlinks/${name}`] = filesOf(own, 'outlinks', {
        fetch_version: fetchVersion,
      });
      if (setCurrent || inverted)
        changes[segment] = {...(setCurrent && {current: name}), ...(inverted && {inverted: null})};
    }
    return {
      edit: {
        // What extractors run beside, too: they must not outlive a parse that is dropped or replaced meanwhile.
        reads: segments.flatMap(({segment, beside}) => [
          `segments/${segment}/fetch`,
          ...(beside === undefined ? [] : [`segments/${segment}/parse/${beside}`]),
        ]),
        writes,
        ...(Object.keys(changes).length === 0 ? {} : {segments: changes}),
      },
    };
  },
});

type TaskConfig = ParseParams['config'];

function taskConfig(config: TaskConfig): TaskConfig {
  const {agent, parse: settings, links, scope, url} = config;
  return {agent, parse: settings, links, scope, url};
}

function isApplied(info: SegmentInfo): boolean {
  return info.applied !== undefined && info.current !== undefined;
}

/** Whether the parse is there, and is of all that was fetched: a fetch that went on since has added rows. */
async function isParsed(
  snapshot: Snapshot,
  segment: string,
  name: string,
  fetchVersion: number,
): Promise<boolean> {
  const files = await snapshot.files(`segments/${segment}/parse/${name}`);
  return (
    files.length > 0 &&
    files.every(({facts}) => facts?.fetch_version === fetchVersion && facts.where === undefined)
  );
}

async function segmentTasks(
  snapshot: Snapshot,
  params: Omit<ParseParams, 'from' | 'to' | 'share' | 'sitemaps' | 'picks'>,
  workers: number,
  firstPart: number,
  chosen?: ReadonlyMap<string, readonly RowRange[]>,
): Promise<Task[]> {
  const {segment} = params;
  const fetchFiles = await snapshot.files(`segments/${segment}/fetch`);
  const rows = fetchFiles.reduce((sum, file) => sum + file.rows, 0);
  const size = Math.min(rowsPerTask, Math.max(leastRows, Math.ceil(rows / workers)));
  const tasks: Task[] = [];
  let before = 0;
  for (const file of fetchFiles) {
    const {files, sitemaps} = await payloadFiles(snapshot, segment, file);
    const inputs = [file, ...files];
    // A file without rows is a task too: its empty files say that the segment is parsed.
    const ranges =
      chosen === undefined ? [[0, Math.max(1, file.rows)] as const] : (chosen.get(file.key) ?? []);
    for (const picks of cutRanges(ranges, size))
      tasks.push({
        stage: 0,
        part: firstPart + tasks.length,
        inputs,
        params: {
          ...params,
          sitemaps,
          from: picks[0]![0],
          to: Math.min(picks.at(-1)![1], file.rows),
          share: (before + picks[0]![0]) / Math.max(1, rows),
          ...(chosen !== undefined && {picks}),
        },
        ...(params.extractors.length === 0 ? {} : {thread: threadOf(params.extractors)}),
      });
    before += file.rows;
  }
  return tasks;
}

/**
 * Content files that hold the payloads of a fetch file: the segment's own, and those of segments it refers to; and
 * the sitemaps in it that were redirected.
 */
async function payloadFiles(
  snapshot: Snapshot,
  segment: string,
  file: FileRef,
): Promise<{files: FileRef[]; sitemaps: string[]}> {
  const holders = new Set([segment]);
  const sitemaps: string[] = [];
  const columns = ['content_segment', 'kind', 'url', 'fetch_redirect'] as const;
  for await (const rows of readTable(fetch, snapshot.store.path(file), {columns}))
    for (const {content_segment, kind, url, fetch_redirect} of rows) {
      if (content_segment !== null) holders.add(content_segment);
      if (kind === 'sitemap' && fetch_redirect !== null) sitemaps.push(url);
    }
  const files: FileRef[] = [];
  for (const holder of [...holders].sort())
    files.push(...(await snapshot.files(`segments/${holder}/content`)));
  return {files, sitemaps};
}

/** Sitemaps that a robots.txt of another host names. Held in memory: these lines of the whole crawl. */
async function readVouchers(snapshot: Snapshot): Promise<Voucher[]> {
  const vouchers: Voucher[] = [];
  for (const file of await snapshot.files('robots'))
    for await (const rows of readTable(robots, snapshot.store.path(file), {columns: ['origin', 'sitemaps']}))
      for (const {origin, sitemaps} of rows)
        for (const url of sitemaps === null ? [] : (JSON.parse(sitemaps) as string[])) {
          const voucher = voucherOf(origin, url);
          if (voucher !== null) vouchers.push(voucher);
        }
  return vouchers;
}

/** Seeds whose line says how far links may lead; the latest line of a seed holds. */
async function readSeedScopes(snapshot: Snapshot): Promise<Record<string, Stay>> {
  const scopes: Record<string, Stay> = {};
  for (const file of await snapshot.files('seeds'))
    for await (const rows of readTable(seeds, snapshot.store.path(file), {columns: ['url', 'scope']}))
      for (const {url, scope} of rows) if (url !== null && scope !== null) scopes[url] = scope;
  return scopes;
}

function filesOf(
  results: readonly TaskResult[],
  table: string,
  facts: NonNullable<FileRef['facts']>,
): FileRef[] {
  return results
    .flatMap((result) => result.files)
    .filter((file) => file.table === table)
    .map((file) => ({...file, facts: {...file.facts, ...facts}}));
}
