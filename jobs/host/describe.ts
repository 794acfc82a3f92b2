import {oneHost} from '../../lib/crawldb/layout.ts';
import {CrawlError} from '../../lib/errors.ts';
import {delayOf, fromHostState, minDelay, withMinDelay} from '../../lib/fetcher/delay.ts';
import {type HeldRule, held as heldRule, isAbout, ruleAbout} from '../../lib/fetcher/host-rules.ts';
import type {DelayTerm, HostRuleRow, HostStateRow, HostStatsRow, RobotsRow} from '../../lib/schema/hostdb.ts';
import {type LockOwner, lockHolder} from '../../lib/store/lock.ts';
import {registeredDomain} from '../../lib/url/host.ts';
import {hostKey} from '../../lib/url/keys.ts';
import {readPolicies} from '../config/policies.ts';
import {type CrawlReader, openReader, type ReadSettings} from '../read/crawl.ts';
import {readHostRules} from '../read/host-rules.ts';
import {hostNameOf} from './name.ts';

/** All that a crawl knows of one host. */
export interface HostDescription {
  readonly url_host_name: string;
  readonly url_host_registered_domain: string;
  /** As the last fetch stored it; null for a host that was never asked. */
  readonly state: HostStateRow | null;
  /** The delay that holds, a rule by hand made since then included. */
  readonly delay: {
    readonly delay_ms: number;
    readonly delay_term: DelayTerm;
    readonly min_delay_ms: number;
    readonly next_allowed_time: Date;
  } | null;
  readonly stats: HostStatsRow | null;
  /** The rule by hand about this host alone. */
  readonly rule: HostRuleRow | null;
  /** Rules about domains and patterns that it belongs to, the narrowest first. */
  readonly wider_rules: readonly HostRuleRow[];
  /** What all of these say together; null where there are none. */
  readonly held: HeldRule | null;
  /** One for each origin, without its text. */
  readonly robots: readonly Omit<RobotsRow, 'body'>[];
  /** URLs whose time has come. */
  readonly due: number;
  /** Segments whose outcome is not in the crawldb yet, with its URLs in them. */
  readonly open: readonly {readonly segment: string; readonly urls: number}[];
  /** Who fetches just now: what stands here of politeness is then as it was before. */
  readonly fetching: LockOwner | null;
}

/** Looks a host up in every table. Throws HOST_UNKNOWN where none has it. */
export async function describeHost(
  input: string,
  now: number,
  settings: ReadSettings,
): Promise<HostDescription> {
  const {policy} = await readPolicies(settings.dir, settings.config);
  const name = hostNameOf(input, policy);
  const reader = await openReader({...settings, hosts: oneHost(hostKey(name))});
  try {
    const found = await lookUp(reader, name, now, settings);
    if (found.rule === null && !isHeardOf(found)) throw await unknownHost(reader, name);
    return found;
  } finally {
    await reader.close();
  }
}

/** Whether the crawl has met the host; a rule by hand alone says nothing of that. */
export function isHeardOf(
  host: Pick<HostDescription, 'state' | 'stats' | 'robots' | 'open' | 'due'>,
): boolean {
  const {state, stats, robots, open, due} = host;
  return state !== null || stats !== null || robots.length > 0 || open.length > 0 || due > 0;
}

async function lookUp(
  {db, snapshot}: CrawlReader,
  name: string,
  now: number,
  {dir, config}: ReadSettings,
): Promise<HostDescription> {
  const host = {host_key: hostKey(name)};
  const one = async <R extends Readonly<Record<string, unknown>>>(table: string) =>
    (await db.all<R>(`FROM ${table} WHERE host_key = $host_key`, host))[0] ?? null;
  const state = await one<HostStateRow>('hoststate');
  const rules = (await readHostRules(db)).about(name);
  const held = rules.length === 0 ? null : heldRule(rules);
  const counts = await db.all<{due: number}>(
    'SELECT count(*) AS due FROM crawldb WHERE host_key = $host_key AND next_fetch_time <= $now',
    {...host, now: new Date(now)},
  );
  const listed = await db.all<{segment: string; urls: number}>(
    `SELECT segment, count(*) AS urls FROM fetchlist WHERE host_key = $host_key GROUP BY segment ORDER BY segment`,
    host,
  );
  return {
    url_host_name: name,
    url_host_registered_domain: registeredDomain(name),
    state,
    delay: state === null ? null : delayNow(state, held, now, config),
    stats: await one<HostStatsRow>('hoststats'),
    rule: rules.find(({url_host_name}) => url_host_name === name) ?? null,
    wider_rules: rules.filter(({url_host_name}) => url_host_name !== name),
    held,
    robots: await db.all<HostDescription['robots'][number]>(
      'SELECT * EXCLUDE (body) FROM robots WHERE host_key = $host_key ORDER BY origin',
      host,
    ),
    due: counts[0]?.due ?? 0,
    open: listed.filter(({segment}) => snapshot.segment(segment).applied === undefined),
    fetching: (await lockHolder(dir, 'fetching')) ?? null,
  };
}

/** As a fetch that begins now would have it. */
function delayNow(
  state: HostStateRow,
  rule: HeldRule | null,
  now: number,
  config: ReadSettings['config'],
): HostDescription['delay'] {
  const stored = fromHostState(state, now, config.politeness);
  const byHand = rule?.min_delay_ms ?? null;
  // Without a rule the stored term stays: whether the host is on loopback is known to a fetch alone
  const held = byHand === null ? stored : withMinDelay(stored, minDelay(config.politeness, byHand, false));
  const {delayMs, term} = delayOf(held);
  return {
    delay_ms: delayMs,
    delay_term: term,
    min_delay_ms: held.minDelayMs,
    next_allowed_time: new Date(Math.ceil(held.nextAllowed)),
  };
}

/** What the crawl knows of the hosts that a domain or a pattern is about. */
export interface GroupDescription {
  /** The text of the rule: `.example.org`, `*.example.org`. */
  readonly url_host_name: string;
  readonly rule: HostRuleRow | null;
  /** Known hosts that it is about, and their URLs. */
  readonly hosts: number;
  readonly urls: number;
  /** The largest of them. */
  readonly largest: readonly string[];
}

const largestHosts = 5;

/** Hosts that the crawl has heard of, those of free lists that no updatedb has seen yet included. */
const namedHosts = `SELECT url_host_name, sum(urls)::BIGINT AS urls
FROM (
  SELECT url_host_name, urls FROM hoststats
  UNION ALL SELECT url_host_name, 0 FROM hoststate
  UNION ALL SELECT DISTINCT url_host_name, 0 FROM fetchlist
)
GROUP BY url_host_name ORDER BY urls DESC, url_host_name`;

/** Looks up the hosts of a domain or pattern. Throws HOST_UNKNOWN where there are none, and no rule. Memory: a batch of names. */
export async function describeGroup(text: string, settings: ReadSettings): Promise<GroupDescription> {
  const reader = await openReader(settings);
  const {db} = reader;
  try {
    const [rule] = await db.all<HostRuleRow>('FROM hostrules WHERE url_host_name = $text', {text});
    let hosts = 0;
    let urls = 0;
    const largest: string[] = [];
    for await (const rows of db.stream(namedHosts))
      for (const row of rows as unknown as Pick<HostStatsRow, 'url_host_name' | 'urls'>[]) {
        if (!isAbout(text, row.url_host_name)) continue;
        hosts++;
        urls += row.urls;
        if (largest.length < largestHosts) largest.push(row.url_host_name);
      }
    if (hosts === 0 && rule === undefined) throw await unknownHost(reader, text);
    return {url_host_name: text, rule: rule ?? null, hosts, urls, largest};
  } finally {
    await reader.close();
  }
}

/** Names that differ in no more letters were meant. */
const fewLetters = 3;

/** With names that were perhaps meant: the most alike, then the largest of the domain. */
async function unknownHost({db}: CrawlReader, text: string): Promise<CrawlError> {
  const about = ruleAbout(text);
  const name = text.replace(/^\./, '');
  const near = await db.all<{url_host_name: string}>(
    `SELECT url_host_name
     FROM (SELECT *, least(damerau_levenshtein(url_host_name, $name), ${fewLetters + 1}) AS letters FROM hoststats)
     WHERE url_host_registered_domain = $domain OR letters <= ${fewLetters}
     ORDER BY letters, urls DESC, url_host_name LIMIT 5`,
    {domain: registeredDomain(name), name},
  );
  const names = near.map((row) => row.url_host_name);
  const what = {host: 'host', domain: 'host of the domain', pattern: 'host of the pattern'}[about];
  return new CrawlError('HOST_UNKNOWN', `the crawl knows no ${what} ${name}`, {
    facts: {host: name, near: names},
    ...(names.length > 0 && {hint: `Near it are: ${names.join(' ')}`}),
  });
}
