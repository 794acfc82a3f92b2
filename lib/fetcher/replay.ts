/**
 * Taking up a fetch again: what its journal proves is done over to queues, hosts and robots.txt, as if it had
 * just happened. Captures come in the order in which they were journalled.
 */
import type {Config} from '../config/settings.ts';
import type {Capture} from '../schema/fetch.ts';
import {registeredDomain} from '../url/host.ts';
import {urlKey} from '../url/keys.ts';
import {chanceOf, effectOf, minDelay} from './delay.ts';
import {originOf} from './hosts.ts';
import {outcomeOfStatus} from './outcome.ts';
import {maxRobotsRedirects} from './robots-turns.ts';
import {soft404Signature} from './soft-404.ts';
import type {FetchWork} from './work.ts';
import type {WorkItem} from './worklist.ts';

/** What {@link Replay.takePoliteness} looks at. */
export const politenessColumns = [
  'capture_id',
  'url_host_name',
  'host_key',
  'fetch_time',
  'fetch_status',
  'reason',
  'content_truncated',
  'first_byte_ms',
  'total_ms',
  'retry_after_s',
  'delay_ms',
] as const;
type PolitenessFacts = Pick<Capture, (typeof politenessColumns)[number]>;

export class Replay {
  readonly #work: FetchWork;
  readonly #config: Config;
  /** URLs of chains of redirects, by fetchlist URL, in order of hop. */
  readonly #chains = new Map<string, string[]>();
  /** Targets that had to be asked next, by URL. */
  readonly #pending = new Map<string, {readonly item: WorkItem; readonly target: string}>();

  constructor(work: FetchWork, config: Config) {
    this.#work = work;
    this.#config = config;
  }

  /** Takes in a capture of this fetch. @param payload only looked at for robots.txt and probes @param now the fetch's clock */
  take(capture: Capture, payload: Uint8Array | null, now: number): void {
    const {hosts, tally, worklist} = this.#work;
    const host = hosts.host(capture.url_host_name, capture.url_host_registered_domain, capture.host_key);
    const {kind} = capture;
    if (kind === 'rendered' || kind === 'imported') return;
    const outcome = {status: capture.status, reason: capture.reason};
    if (wasAsked(capture)) {
      tally.asked(kind);
      tally.answered(host, kind, outcome, capture.content_length ?? 0);
    } else tally.unasked(host, kind, outcome);
    this.takePoliteness(capture, now);
    if (kind === 'robots') {
      this.#robots(capture, payload);
      return;
    }
    if (kind === 'probe') {
      const signature =
        capture.status === 'success' && payload !== null
          ? soft404Signature(payload, capture.content_encoding, capture.url)
          : null;
      host.soft404 = {askedAt: capture.fetch_time.getTime(), signature};
      return;
    }
    if (kind === 'hop') {
      worklist.know(capture.url_key);
      this.#pending.delete(capture.url);
    } else if (kind === 'page' && capture.status === 'success') host.pages++;
    if (capture.reason === 'redirect' && capture.fetch_redirect !== null)
      this.#redirect(capture, capture.fetch_redirect);
  }

  /**
   * Takes in what a capture, of this fetch, of another that is not complete, or of another part of this one, says of a
   * host: of those on the fetch's domains, and of others, to which a robots.txt may be redirected, while they rest.
   */
  takePoliteness(capture: PolitenessFacts, now: number): void {
    if (!wasAsked(capture)) return;
    const {hosts} = this.#work;
    const {url_host_name: name, host_key} = capture;
    let host = hosts.reached(name, host_key);
    if (!host && this.#mayRest(capture, now)) host = hosts.host(name, registeredDomain(name), host_key);
    if (!host) return;
    // Fetches of a crawl follow one another: what was sent before a stored state's last answer is counted in it.
    if (host.storedEnd !== null && capture.fetch_time.getTime() <= host.storedEnd) return;
    const endedAt = endOf(capture, now, this.#config.fetch.total_timeout);
    if (host.politeness.lastEnd !== null && endedAt < host.politeness.lastEnd) return;
    const {max_bandwidth_per_host} = this.#config.politeness;
    // Where bodies are read at a pace, how long one took is ours: only its first byte is known to be the host's.
    const paced =
      (host.rule?.max_bandwidth ?? max_bandwidth_per_host ?? this.#config.fetch.max_bandwidth) !== undefined;
    const answer = {
      endedAt,
      tookMs: paced ? (capture.first_byte_ms ?? capture.total_ms) : capture.total_ms,
      reason: saidOfHost(capture),
      retryAfterMs: capture.retry_after_s === null ? null : capture.retry_after_s * 1000,
    };
    hosts.learn(host, answer, chanceOf(capture.capture_id));
    hosts.setPoliteness(host, host.politeness);
  }

  /** Has the host perhaps still to be left alone after this answer? */
  #mayRest(capture: PolitenessFacts, now: number): boolean {
    const {politeness, fetch} = this.#config;
    const effect = effectOf(saidOfHost(capture));
    if (effect !== 'good' && effect !== 'none') return true;
    // The delay that follows is not known here: it is the one before, or that of a host of which nothing was known.
    const delayMs = Math.max(capture.delay_ms ?? 0, minDelay(politeness, null, false));
    const retryAfterMs = (capture.retry_after_s ?? 0) * 1000;
    return endOf(capture, now, fetch.total_timeout) + Math.max(delayMs, retryAfterMs) > now;
  }

  /**
   * All captures are in: queues the hops that had not been asked.
   * @param proven the journals hold all answers that there were; false after a crash of this fetch, or of another that
   * is not complete: then every host rests one full delay from `now` on
   */
  finish(proven: boolean, now: number): void {
    for (const {item, target} of this.#pending.values()) this.#work.follow(item, target);
    if (!proven) this.#work.hosts.restAll(now);
  }

  #redirect(capture: Capture, target: string): void {
    const chain = this.#chains.get(capture.origin_url)?.slice(0, capture.hop) ?? [];
    this.#chains.set(capture.origin_url, [...chain, capture.url]);
    if (this.#work.worklist.find(urlKey(target)) !== undefined) return;
    this.#pending.set(target, {
      target,
      item: {
        kind: 'hop',
        url: capture.url,
        urlKey: capture.url_key,
        hop: capture.hop,
        originUrl: capture.origin_url,
        depth: capture.depth,
        seed: capture.seed,
        held: null,
        chain,
        sitemap: this.#isSitemap(capture),
        robotsOrigin: null,
      },
    });
  }

  #isSitemap({kind, origin_url}: Capture): boolean {
    if (kind !== 'hop') return kind === 'sitemap';
    const first = this.#work.worklist.find(urlKey(origin_url));
    return (
      first !== undefined && this.#work.worklist.isListed(first) && this.#work.worklist.get(first).sitemap
    );
  }

  #robots(capture: Capture, payload: Uint8Array | null): void {
    const redirected = capture.reason === 'redirect' && capture.fetch_redirect !== null;
    if (redirected && capture.hop < maxRobotsRedirects) return; // its end follows, or it is asked again
    const {robotsTurns} = this.#work;
    const origin = originOf(capture.origin_url);
    const reason = capture.reason === 'redirect' ? 'redirect_limit' : capture.reason;
    const ofStatus =
      capture.fetch_status === null ? null : outcomeOfStatus(capture.fetch_status, false).reason;
    robotsTurns.settle(origin, robotsTurns.owner(origin), {
      status: capture.fetch_status,
      reason: reason === ofStatus ? null : reason,
      body: payload ?? (capture.fetch_status === null ? null : new Uint8Array(0)),
      contentEncoding: capture.content_encoding,
      truncated: capture.content_truncated !== null,
      retryAfterMs: capture.retry_after_s === null ? null : capture.retry_after_s * 1000,
      now: capture.fetch_time.getTime() + (capture.total_ms ?? 0),
    });
  }
}

/** When the answer ended. How long a failed connection took is not in its row: at most `mostMs`, and not beyond now. */
function endOf({fetch_time, total_ms}: PolitenessFacts, now: number, mostMs: number): number {
  const sent = fetch_time.getTime();
  return total_ms === null ? Math.max(sent, Math.min(sent + mostMs, now)) : sent + total_ms;
}

/** Was the host asked, or tried to be? */
function wasAsked(capture: PolitenessFacts): boolean {
  return capture.delay_ms !== null;
}

/** What the answer said of the host: the row's reason, unless it is about what became of the URL. */
function saidOfHost(capture: PolitenessFacts): Capture['reason'] {
  return capture.fetch_status !== null && capture.reason !== 'challenge' && capture.content_truncated === null
    ? outcomeOfStatus(capture.fetch_status, true).reason
    : capture.reason;
}
