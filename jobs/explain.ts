import {oneHost} from '../lib/crawldb/layout.ts';
import {rulesOfRow} from '../lib/robots/from-response.ts';
import {isAllowed, type RobotsAnswer} from '../lib/robots/match.ts';
import type {CrawlDatum} from '../lib/schema/crawldb.ts';
import type {Capture} from '../lib/schema/fetch.ts';
import type {FetchlistRow} from '../lib/schema/fetchlist.ts';
import type {HostRuleRow, HostStateRow, HostStatsRow, RobotsRow} from '../lib/schema/hostdb.ts';
import type {Outlink} from '../lib/schema/outlinks.ts';
import type {ParseRow} from '../lib/schema/parse.ts';
import type {Reason} from '../lib/schema/reason.ts';
import type {RefusalRow} from '../lib/schema/refusals.ts';
import type {SeedRow} from '../lib/schema/seeds.ts';
import type {ScopeVerdict} from '../lib/scope/scope.ts';
import {finite, priorityJoins, readsOtherHosts, weighed, weightsOf} from '../lib/score/score.ts';
import type {SegmentInfo} from '../lib/store/manifest-types.ts';
import {withQuarantine} from '../lib/traps/quarantine.ts';
import {identify} from '../lib/url/keys.ts';
import {explainUrl} from '../lib/url/normalize.ts';
import {readPolicies} from './config/policies.ts';
import {explainSelections, type SelectionVerdict} from './explain/selection.ts';
import {type CrawlReader, openReader, type ReadSettings} from './read/crawl.ts';
import {readHostRules} from './read/host-rules.ts';
import {readQuarantine} from './read/quarantine.ts';

/** All that a crawl knows of one URL. Lists are the newest rows, newest first. */
export interface Explanation {
  readonly input: string;
  /** Steps of the normalization that changed something. */
  readonly steps: readonly {readonly name: string; readonly url: string}[];
  /** The normalized URL; null where there is none. */
  readonly url: string | null;
  readonly refused: {readonly reason: Reason; readonly detail: string} | null;
  /** What the present scope says of it: as it was found, or as a link if it is not known. */
  readonly scope: ScopeVerdict | null;
  readonly row: CrawlDatum | null;
  readonly seeds: readonly SeedRow[];
  readonly selections: readonly (FetchlistRow & {readonly segment_info: SegmentInfo | null})[];
  /** Parts of its priority in generate, by the present weights and time; null for a URL that is not known. */
  readonly priority:
    | readonly {readonly part: string; readonly weight: number; readonly value: number}[]
    | null;
  /** Why the last selections did not take it, the newest first. */
  readonly passedOver: readonly SelectionVerdict[];
  readonly captures: readonly Omit<Capture, 'request_header' | 'response_header'>[];
  readonly parses: readonly Pick<ParseRow, ParseColumn>[];
  readonly robots: (Omit<RobotsRow, 'body'> & {readonly answer: RobotsAnswer}) | null;
  readonly host: {
    readonly state: HostStateRow | null;
    readonly stats: HostStatsRow | null;
    /** Rules by hand about it, its domain and patterns, the narrowest first. */
    readonly rules: readonly HostRuleRow[];
  };
  readonly links: {
    readonly total: number;
    /** Of those, links that updatedb may follow. */
    readonly accepted: number;
    readonly reasons: Readonly<Record<string, number>>;
    readonly newest: readonly Pick<Outlink, LinkColumn>[];
  };
  /** What updatedb said where it did not add it. */
  readonly refusals: readonly RefusalRow[];
  /** Segments whose outcome is not in the crawldb yet. */
  readonly openSegments: readonly string[];
}

const parseColumns = [
  'segment',
  'parse_id',
  'status',
  'reason',
  'title',
  'content_mime_detected',
  'content_charset',
  'text_length',
  'canonical_url',
  'robots_noindex',
  'robots_nofollow',
  'outlinks',
] as const;
type ParseColumn = (typeof parseColumns)[number];

const linkColumns = [
  'segment',
  'from_url',
  'anchor',
  'rel',
  'kind',
  'href',
  'fetch_time',
  'accepted',
  'reason',
  'rule',
] as const;
type LinkColumn = (typeof linkColumns)[number];

const newestRows = 10; // chosen: what a person reads; crawl sql has the rest

/** Looks a URL up in every table. */
export async function explain(input: string, settings: ReadSettings): Promise<Explanation> {
  const {policy, scope} = await readPolicies(settings.dir, settings.config);
  const {steps, result} = explainUrl(input, policy);
  const ofOne = !('reason' in result) && !readsOtherHosts(weightsOf(settings.config.score.weights));
  const hosts = ofOne ? oneHost(identify(result.url).host_key) : undefined;
  const reader = await openReader({...settings, hosts});
  try {
    const common = {input, steps, openSegments: openSegmentsOf(reader)};
    if ('reason' in result) return {...common, ...nothingKnown, refused: result};
    const facts = await lookUp(reader, result.url, settings);
    const {row} = facts;
    return {
      ...common,
      ...facts,
      url: result.url,
      refused: null,
      scope: withQuarantine(scope, await readQuarantine(reader.db, null)).check({
        url: result.url,
        depth: row?.depth ?? 1,
        hopType: row?.hop_type ?? 'L',
        seed: row?.seed ?? null,
        ...(row?.discovered_from == null ? {} : {from: row.discovered_from}),
      }),
    };
  } finally {
    await reader.close();
  }
}

const nothingKnown = {
  url: null,
  scope: null,
  row: null,
  seeds: [],
  selections: [],
  priority: null,
  passedOver: [],
  captures: [],
  parses: [],
  robots: null,
  host: {state: null, stats: null, rules: []},
  links: {total: 0, accepted: 0, reasons: {}, newest: []},
  refusals: [],
} as const;

function openSegmentsOf({snapshot}: CrawlReader): string[] {
  return snapshot.segments.filter((id) => snapshot.segment(id).applied === undefined);
}

async function lookUp(
  {db, snapshot}: CrawlReader,
  url: string,
  settings: ReadSettings,
): Promise<Omit<Explanation, 'input' | 'steps' | 'openSegments' | 'url' | 'refused' | 'scope'>> {
  const {config} = settings;
  const {host_key, url_key, url_host_name} = identify(url);
  const page = {host_key, url_key};
  const here = 'host_key = $host_key AND url_key = $url_key';
  // The URL too: two URLs may have one key
  const [row] = await db.all<CrawlDatum>(`FROM crawldb WHERE ${here} AND url = $url`, {...page, url});
  const seeds = await db.all<SeedRow>(
    `FROM seeds WHERE ${here} ORDER BY injected_time DESC, source, line LIMIT ${newestRows}`,
    page,
  );
  const selections = await db.all<FetchlistRow>(
    `FROM fetchlist WHERE ${here} ORDER BY segment DESC LIMIT ${newestRows}`,
    page,
  );
  const captures = await db.all<Explanation['captures'][number]>(
    `SELECT * EXCLUDE (request_header, response_header) FROM captures
     WHERE ${here} ORDER BY fetch_time DESC, kind, hop LIMIT ${newestRows}`,
    page,
  );
  const parses = await db.all<Explanation['parses'][number]>(
    `SELECT ${parseColumns.join(', ')} FROM parse WHERE ${here} ORDER BY segment DESC LIMIT ${newestRows}`,
    page,
  );
  const [state] = await db.all<HostStateRow>('FROM hoststate WHERE host_key = $host_key', {host_key});
  const [stats] = await db.all<HostStatsRow>('FROM hoststats WHERE host_key = $host_key', {host_key});
  const rules = (await readHostRules(db)).about(url_host_name);
  const [robots] = await db.all<RobotsRow>('FROM robots WHERE host_key = $host_key AND origin = $origin', {
    host_key,
    origin: new URL(url).origin,
  });
  return {
    row: row ?? null,
    seeds,
    selections: selections.map((one) => ({
      ...one,
      segment_info: snapshot.manifest.segments[one.segment] ?? null,
    })),
    priority: row === undefined ? null : await priorityOf(db, page, settings),
    passedOver:
      row === undefined
        ? []
        : await explainSelections(page, snapshot, new Set(selections.map(({segment}) => segment)), settings),
    captures,
    parses,
    robots: robots === undefined ? null : withAnswer(robots, url, config),
    host: {state: state ?? null, stats: stats ?? null, rules},
    links: await linksTo({db}, page),
    refusals: await db.all<RefusalRow & Readonly<Record<string, unknown>>>(
      `FROM refusals WHERE ${here} AND url = $url ORDER BY segment DESC, parse_id LIMIT ${newestRows}`,
      {...page, url},
    ),
  };
}

async function priorityOf(
  db: CrawlReader['db'],
  {host_key, url_key}: Pick<CrawlDatum, 'host_key' | 'url_key'>,
  {config}: ReadSettings,
): Promise<Explanation['priority']> {
  const weights = weightsOf(config.score.weights);
  const parts = weighed(weights);
  const [row] = await db.all<Record<string, number>>(
    `SELECT ${parts.map(({part}) => `${finite(part)} AS ${part.name}`).join(', ')}
     FROM (SELECT * FROM crawldb WHERE host_key = $host_key AND url_key = $url_key) c ${priorityJoins(weights)}`,
    {host_key, url_key},
  );
  return parts.map(({part, weight}) => ({part: part.name, weight, value: row?.[part.name] ?? 0}));
}

function withAnswer(row: RobotsRow, url: string, config: ReadSettings['config']): Explanation['robots'] {
  const answer = isAllowed(rulesOfRow(row, config.agent.name, config.robots), url);
  const {body: _, ...facts} = row;
  return {...facts, answer};
}

async function linksTo(
  {db}: Pick<CrawlReader, 'db'>,
  page: {readonly host_key: bigint; readonly url_key: bigint},
): Promise<Explanation['links']> {
  const there = 'to_host_key = $host_key AND to_url_key = $url_key';
  const counts = await db.all<{reason: string | null; accepted: boolean; n: number}>(
    `SELECT reason, accepted, count(*) AS n FROM outlinks WHERE ${there} GROUP BY ALL`,
    page,
  );
  const newest = await db.all<Explanation['links']['newest'][number]>(
    `SELECT ${linkColumns.join(', ')} FROM outlinks
     WHERE ${there} ORDER BY fetch_time DESC, from_url, position LIMIT ${newestRows}`,
    page,
  );
  const sum = (rows: typeof counts) => rows.reduce((total, {n}) => total + n, 0);
  return {
    total: sum(counts),
    accepted: sum(counts.filter(({accepted}) => accepted)),
    reasons: Object.fromEntries(counts.flatMap(({reason, n}) => (reason === null ? [] : [[reason, n]]))),
    newest,
  };
}
