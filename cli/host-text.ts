import type {GroupDescription, HostDescription} from '../jobs/host/describe.ts';
import type {HostRuleText} from '../jobs/host-rules.ts';
import {hoursOf, openFrom} from '../lib/fetcher/hours.ts';
import {type DelayTerm, delayTerms} from '../lib/schema/hostdb.ts';
import type {Output} from './output.ts';
import {bytes, count, counted, span, visible} from './words.ts';

interface Frame {
  readonly now: number;
  readonly colours: Output['colours'];
}

/** `crawl host` for people: whether the host may be asked, then what that rests on. */
export function hostText(host: HostDescription, {now, colours}: Frame): string {
  const lines = [colours.bold(visible(host.url_host_name)), hostAnswer(host, now), ''];
  for (const [title, texts] of sections(host, now)) {
    const [first, ...others] = texts;
    if (first === undefined) continue;
    lines.push(`${colours.dim(title.padEnd(12))}${visible(first)}`);
    for (const text of others) lines.push(`${' '.repeat(12)}${visible(text)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Whether it may be asked now, and if not, why. */
export function hostAnswer(
  {held: rule, rule: own, wider_rules: wider, state, delay, robots}: HostDescription,
  now: number,
): string {
  if (rule?.blocked) {
    const by = own?.blocked ? undefined : wider.find(({blocked}) => blocked);
    return `Blocked by hand${by === undefined ? '' : `, as ${visible(by.url_host_name)}`}: nothing is asked of it.`;
  }
  if (state === null || delay === null) return 'Never asked so far: it may be asked at once.';
  const open = openFrom(rule?.hours == null ? null : hoursOf(rule.hours), now);
  if (open > now)
    return `Outside its hours, ${rule?.hours} UTC: asked in ${span(open - now)} at the earliest.`;
  const wait = delay.next_allowed_time.getTime() - now;
  const trouble =
    state.failures === 0
      ? ''
      : ` after ${counted(state.failures, 'failure')} in a row, the last ${state.last_reason ?? 'unknown'}`;
  if (wait > 0) return `It rests for ${span(wait)} more, by ${delay.delay_term}${trouble}.`;
  const closed = robots.filter(({verdict}) => verdict === 'deny_all');
  if (closed.length > 0 && closed.length === robots.length)
    return 'It may be asked now, but its robots.txt forbids everything, or could not be read.';
  return `It may be asked now${trouble}.`;
}

/** `blocked, delay 5.0 s, 2 connections: they asked us to`; what a rule by hand says. */
export function ruleText(rule: HostRuleText): string {
  const {blocked, min_delay_ms: delay, max_connections: most, note, hours} = rule;
  const parts = [
    blocked ? 'blocked' : rule.unblocked ? 'asked although a wider rule blocks it' : null,
    delay === null ? null : `delay ${span(delay)}`,
    most === null ? null : `${counted(most, 'connection')} at once`,
    hours === null ? null : `asked ${hours} UTC only`,
    rule.max_rate === null ? null : `at most ${Number(rule.max_rate.toFixed(3))} requests/s`,
    rule.max_bandwidth === null ? null : `at most ${bytes(rule.max_bandwidth)}/s`,
  ].filter((part) => part !== null);
  const says = parts.length === 0 ? 'nothing but a note' : parts.join(', ');
  return note === null ? says : `${says}: ${visible(note)}`;
}

function sections(host: HostDescription, now: number): [string, string[]][] {
  const at = (time: Date) => timeText(time, now);
  const {rule, wider_rules: wider, open, due, stats, fetching} = host;
  const made = (one: NonNullable<typeof rule>) => `${ruleText(one)}; by hand, ${at(one.changed_time)}`;
  return [
    [
      'rule',
      [...(rule === null ? [] : [made(rule)]), ...wider.map((one) => `${one.url_host_name}: ${made(one)}`)],
    ],
    ['politeness', politenessText(host, at)],
    ['robots.txt', host.robots.map((robots) => robotsText(robots, at))],
    ['urls', stats === null ? [] : statsText(stats, due)],
    ['open', open.map(({segment, urls}) => `segment ${segment}: ${counted(urls, 'URL')}, not applied yet`)],
    [
      'running',
      fetching === null
        ? []
        : [
            `a fetch (pid ${fetching.pid} on ${fetching.host}): politeness is as it was before, until it ends`,
          ],
    ],
  ];
}

function timeText(time: Date, now: number): string {
  const far = time.getTime() > now ? `in ${span(time.getTime() - now)}` : `${span(now - time.getTime())} ago`;
  return `${time.toISOString().replace(/\.\d+Z$/, 'Z')} (${far})`;
}

/** `crawl host --domain` and `--pattern` for people: the rule, and the known hosts that it is about. */
export function groupText(
  {url_host_name, rule, hosts, urls, largest}: GroupDescription,
  {now, colours}: Frame,
): string {
  const more = hosts > largest.length ? ', …' : '';
  return [
    colours.bold(visible(url_host_name)),
    rule === null ? 'No rule by hand.' : `${ruleText(rule)}; by hand, ${timeText(rule.changed_time, now)}`,
    `${counted(hosts, 'known host')} with ${counted(urls, 'URL')}${hosts === 0 ? '' : `: ${largest.map(visible).join(', ')}${more}`}`,
    '',
  ].join('\n');
}

/** When, then every term of the delay, the one that won marked. */
function politenessText({state, delay}: HostDescription, at: (time: Date) => string): string[] {
  if (state === null || delay === null) return [];
  const terms = {...state, min_delay_ms: delay.min_delay_ms};
  const last = state.last_response_time === null ? '' : `; last answer ${at(state.last_response_time)}`;
  const lookups =
    state.dns_failures === 0 ? '' : `, ${counted(state.dns_failures, 'look-up')} failed in a row`;
  return [
    `next request ${at(delay.next_allowed_time)}${last}`,
    `delay ${span(delay.delay_ms)}, the longest of: ${delayText(terms, delay.delay_term)}`,
    state.failures === 0
      ? `no failure since the last good answer${lookups}`
      : `${counted(state.failures, 'failure')} in a row, last ${state.last_reason ?? 'unknown'}${lookups}`,
    `${counted(state.requests, 'request')} ever, robots.txt and hops included; state of segment ${state.updated_segment}`,
  ];
}

/** Every term of a delay, the one that won marked. */
export function delayText(terms: Readonly<Record<`${DelayTerm}_ms`, number>>, won: DelayTerm): string {
  return delayTerms
    .map((term) => `${term} ${span(terms[`${term}_ms`])}${term === won ? ' ←' : ''}`)
    .join(', ');
}

function robotsText(robots: HostDescription['robots'][number], at: (time: Date) => string): string {
  const sitemaps = robots.sitemaps === null ? 0 : (JSON.parse(robots.sitemaps) as string[]).length; // written by fetch as such
  return [
    `${robots.origin}: ${robots.verdict}${robots.fetch_status === null ? '' : `, HTTP ${robots.fetch_status}`}`,
    `read ${at(robots.fetched_time)}`,
    `again ${at(robots.expires_time)}`,
    robots.crawl_delay_s === null ? null : `Crawl-delay ${robots.crawl_delay_s} s`,
    sitemaps === 0 ? null : counted(sitemaps, 'sitemap'),
    robots.reason === null ? null : `the last attempt failed: ${robots.reason}`,
    robots.unreachable_since === null ? null : `unreachable since ${at(robots.unreachable_since)}`,
  ]
    .filter((part) => part !== null)
    .join('; ');
}

function statsText(stats: NonNullable<HostDescription['stats']>, due: number): string[] {
  const {urls, unfetched, fetched, duplicates, gone, redirects, pages_fetched, body_bytes, over_budget} =
    stats;
  const saved = body_bytes - (stats.novel_bytes ?? body_bytes);
  const parts = Object.entries({unfetched, fetched, redirects, duplicates, gone})
    .filter(([, n]) => n > 0)
    .map(([name, n]) => `${count(n)} ${name}`);
  const refused = over_budget === 0 ? '' : `; ${counted(over_budget, 'new URL')} refused by the budget`;
  const {recent_pages: pages, recent_new: own} = stats;
  const yielded = pages === null || own === null || pages < 1 ? [] : [yieldText(pages, own)];
  return [
    `${counted(urls, 'known URL')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}; ${count(due)} due`,
    `${counted(pages_fetched, 'page')} fetched ever, ${bytes(body_bytes)}${saved === 0 ? '' : `, ${bytes(saved)} of them not stored again`}${refused}`,
    ...yielded,
  ];
}

/** What generate's yield rests on. */
function yieldText(pages: number, own: number): string {
  const few = own < pages / 2 ? ': with less than half of them generate gives it less' : '';
  return `${count(Math.round(own))} of its last ${counted(Math.round(pages), 'page')} had content of their own${few}`;
}
