import type {Config} from '../config/settings.ts';
import type {RobotsRow} from '../schema/hostdb.ts';
import type {Reason} from '../schema/reason.ts';
import {parseUrl} from '../url/parse.ts';
import {allowAll, denyAll, type RobotsRules, rulesFor} from './match.ts';
import {parseRobots, type RobotsFile} from './parse.ts';

/**
 * What came of asking an origin for /robots.txt. Redirects are followed by the caller, across origins
 * too and at most five; the row belongs to the origin that was asked first, whoever answered.
 */
export interface RobotsFacts {
  /** Scheme, host and port that were asked. */
  readonly origin: string;
  readonly host_key: bigint;
  /** Status of the last answer; null without one. */
  readonly status: number | null;
  /** Why there is no usable answer (`dns`, `timeout`, `redirect_limit`, `challenge`, …), or null. */
  readonly reason: Reason | null;
  /** Content-decoded; more than robots.max_size is cut. */
  readonly body: Uint8Array | null;
  /** True: there was more than `body` holds (a limit of the client). Its last line does not count then. */
  readonly truncated?: boolean;
  readonly previous?: RobotsRow | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Wait that the answer asked for, in ms. */
  readonly retryAfterMs?: number | null;
  /** Our name, for the column crawl_delay_s. */
  readonly productToken: string;
}

/** First wait after a failure, in ms; as long as the back-off of 429 and 503. */
const shortestRetryMs = 5 * 60_000;

/**
 * The row that holds for the origin from now on.
 *
 * - 2xx: the rules in its body.
 * - 304: the last copy, as if read anew.
 * - other 3xx (more redirects than are followed, a loop, no Location) and 4xx but 429: nothing is forbidden.
 * - 429, 5xx, all else and no answer: everything is forbidden, and the file is asked for again after as long
 *   as it has been unreachable (at least 5 minutes, at most robots.max_age). When it has been so for
 *   robots.last_good, its last copy holds for as long again; after that, or without a copy, nothing is
 *   forbidden.
 *
 * @see RFC 9309, sections 2.3.1.1 to 2.3.1.4 and 2.4
 */
export function verdictOf(facts: RobotsFacts, config: Config['robots']): RobotsRow {
  const {previous, now} = facts;
  const fresh = {
    origin: facts.origin,
    host_key: facts.host_key,
    fetched_time: new Date(now),
    expires_time: new Date(now + config.max_age),
    fetch_status: facts.status,
    reason: facts.reason,
    unreachable_since: null,
  };
  switch (answerOf(facts)) {
    case 'read': {
      const body = wholeLines(facts.body ?? new Uint8Array(0), config.max_size, facts.truncated === true);
      return {...fresh, verdict: 'rules', last_good_time: new Date(now), ...copyOf(body, facts, config)};
    }
    case 'same': {
      const body = previous!.body!;
      return {...fresh, verdict: 'rules', last_good_time: new Date(now), ...copyOf(body, facts, config)};
    }
    case 'none':
      return {...fresh, verdict: 'allow_all', last_good_time: null, ...noCopy};
    case 'unreachable': {
      const since = previous?.unreachable_since?.getTime() ?? now;
      // A clock that was set back must not make it a long series.
      const lasted = Math.max(0, now - since);
      const retry = Math.min(Math.max(lasted, shortestRetryMs, facts.retryAfterMs ?? 0), config.max_age);
      const hasCopy = previous?.body != null;
      return {
        ...fresh,
        verdict:
          lasted < config.last_good
            ? 'deny_all'
            : hasCopy && lasted < 2 * config.last_good
              ? 'rules'
              : 'allow_all',
        expires_time: new Date(now + retry),
        unreachable_since: new Date(since),
        last_good_time: previous?.last_good_time ?? null,
        body: previous?.body ?? null,
        crawl_delay_s: previous?.crawl_delay_s ?? null,
        sitemaps: previous?.sitemaps ?? null,
      };
    }
  }
}

const noCopy = {body: null, crawl_delay_s: null, sitemaps: null};

function copyOf(
  body: Uint8Array,
  facts: RobotsFacts,
  config: Config['robots'],
): Pick<RobotsRow, 'body' | 'crawl_delay_s' | 'sitemaps'> {
  const file = parseRobots(body, {maxBytes: config.max_size, typos: config.typos});
  const sitemaps = sitemapsOf(file, facts.origin);
  return {
    body,
    crawl_delay_s: rulesFor(file, facts.productToken).crawlDelayS,
    sitemaps: sitemaps.length === 0 ? null : JSON.stringify(sitemaps),
  };
}

/**
 * At most `maxBytes` of the body. Where something is missing, it ends with the last line end before: half a
 * rule is another rule.
 */
function wholeLines(body: Uint8Array, maxBytes: number, truncated: boolean): Uint8Array {
  if (body.length <= maxBytes && !truncated) return body;
  const kept = body.subarray(0, maxBytes);
  return kept.slice(0, Math.max(kept.lastIndexOf(10), kept.lastIndexOf(13)) + 1);
}

function answerOf(facts: RobotsFacts): 'read' | 'same' | 'none' | 'unreachable' {
  const {status, reason} = facts;
  switch (reason) {
    case 'redirect_limit':
    case 'redirect_loop':
    case 'redirect_malformed':
      return 'none';
    case 'redirect_out_of_scope':
    case 'challenge': // the server has not said what it allows
      return 'unreachable';
    default:
  }
  if (status === null) return 'unreachable';
  if (status >= 200 && status < 300) {
    return reason === null && facts.body !== null ? 'read' : 'unreachable';
  }
  if (status === 304) return facts.previous?.body != null ? 'same' : 'unreachable';
  if (status >= 300 && status < 400) return 'none';
  return status >= 400 && status < 500 && status !== 429 ? 'none' : 'unreachable';
}

/** True: the file has to be asked for (again) before anything else of the origin. */
export function isDue(row: RobotsRow | undefined, now: number, config: Config['robots']): boolean {
  if (row === undefined) return true;
  // A row from the future (a clock that was set back) is not believed for longer than max_age.
  return row.expires_time.getTime() <= now || row.fetched_time.getTime() > now + config.max_age;
}

/** The rules that the row means for us. */
export function rulesOfRow(
  row: RobotsRow,
  productToken: string,
  config: Pick<Config['robots'], 'max_size' | 'typos'>,
): RobotsRules {
  switch (row.verdict) {
    case 'allow_all':
      return allowAll;
    case 'deny_all':
      return denyAll;
    case 'rules': {
      const options = {maxBytes: config.max_size, typos: config.typos};
      return rulesFor(parseRobots(row.body ?? new Uint8Array(0), options), productToken);
    }
    default:
      throw new TypeError(`unknown verdict ${row.verdict satisfies never}`);
  }
}

/** Most Sitemap lines of a file that are looked at. Chosen: the largest real file seen has about 500. */
const maxSitemaps = 10_000;

/** Absolute http and https URLs of the Sitemap lines, each once, in order. Relative ones are of the origin. */
export function sitemapsOf(file: RobotsFile, origin: string): string[] {
  const urls = new Set<string>();
  for (const {url} of file.sitemaps.slice(0, maxSitemaps)) {
    const absolute = parseUrl(url) ?? parseUrl(url, new URL(origin));
    if (absolute === undefined) continue;
    if (absolute.protocol === 'http:' || absolute.protocol === 'https:') urls.add(absolute.href);
  }
  return [...urls];
}
