import type {Progress} from '../effects.ts';
import {delayOf} from './delay.ts';
import type {FetchHost} from './hosts.ts';

/** What the hosts of a fetch do at a moment. Pure. */
export interface HostFigures {
  /** Hosts that could be asked now, if there were a place. */
  readonly ready: number;
  /** Hosts whose delay is not over, or that wait for an address or a robots.txt. */
  readonly waiting: number;
  /** Hosts that rest after failures or because they asked for it. */
  readonly resting: number;
  /** Time in which the host that takes longest is done, if it answers as it did. */
  readonly leftMs: number;
  readonly slowest: {readonly name: string; readonly urls: number} | null;
  /** Earliest turn of a host that is not ready; null without one. */
  readonly next: {readonly name: string; readonly at: number} | null;
}

/** Looks at each host: 5 to 10 ms for 100,000 of them, so not at each redraw. */
export function hostFigures(hosts: Iterable<FetchHost>, now: number): HostFigures {
  let ready = 0;
  let waiting = 0;
  let resting = 0;
  let leftMs = 0;
  let slowest: HostFigures['slowest'] = null;
  let next: HostFigures['next'] = null;
  for (const {name, queue, politeness} of hosts) {
    if (queue.waiting === 0) continue;
    const {delayMs, term} = delayOf(politeness);
    const wait = Math.max(0, queue.nextAllowed - now);
    if (wait === 0 && queue.held === 0 && queue.active < queue.maxActive) ready++;
    else if (wait > 0 && (term === 'backoff' || term === 'retry_after')) resting++;
    else waiting++;
    if (wait > 0 && queue.active === 0 && (next === null || queue.nextAllowed < next.at))
      next = {name, at: queue.nextAllowed};
    // After a rest the host is asked at its usual pace again.
    const usual = Math.max(politeness.minDelayMs, politeness.latencyMs, politeness.crawlDelayMs);
    const own = wait + ((queue.waiting - 1) * Math.min(delayMs, usual)) / queue.maxActive;
    if (own < leftMs || (own === leftMs && slowest !== null)) continue;
    leftMs = own;
    slowest = {name, urls: queue.waiting};
  }
  return {ready, waiting, resting, leftMs, slowest, next};
}

/** Why nothing is sent although there is work; null: something is, or could be. */
export function standstill(state: {
  readonly now: number;
  readonly outage: boolean;
  /** When fetch.hours let requests go. */
  readonly open: number;
  /** When fetch.max_rate and fetch.max_bandwidth do. */
  readonly free: number;
  readonly active: number;
  readonly figures: HostFigures;
}): string | null {
  const {now, figures} = state;
  if (state.outage) return 'own network';
  if (state.open > now) return `fetch.hours, from ${minuteOf(state.open)} UTC on`;
  if (state.active > 0) return null;
  if (state.free > now + 1000) return 'fetch.max_rate or fetch.max_bandwidth';
  if (figures.ready > 0 || figures.next === null) return null;
  return `${figures.next.name}, in ${Math.ceil((figures.next.at - now) / 1000)} s`;
}

function minuteOf(time: number): string {
  return new Date(time).toISOString().slice(11, 16);
}

/** The point for the progress line. @param rate URLs a second so far */
export function progressPoint(
  work: {readonly done: number; readonly listed: number; readonly active: number; readonly bytes: number},
  figures: HostFigures | null,
  rate: number,
  waitingFor: string | null,
): Progress {
  const left = work.listed - work.done;
  const byRate = rate > 0 ? (left / rate) * 1000 : 0;
  return {
    done: work.done,
    total: work.listed,
    unit: 'pages',
    ...(figures === null || left === 0 ? {} : {leftMs: Math.max(byRate, figures.leftMs)}),
    facts: {
      bytes: work.bytes,
      ...(figures === null
        ? {}
        : {
            active: work.active,
            ready: figures.ready,
            waiting: figures.waiting,
            resting: figures.resting,
            // With one page left everywhere no host is the slowest.
            ...(figures.slowest === null || figures.slowest.urls < 2
              ? {}
              : {slowest: `${figures.slowest.name} (${figures.slowest.urls})`}),
          }),
      ...(waitingFor === null ? {} : {waiting_for: waitingFor}),
    },
  };
}
