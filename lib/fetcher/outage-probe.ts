import type {FetchHost} from './hosts.ts';
import {openFrom} from './hours.ts';
import type {FetchWork} from './work.ts';

/**
 * A host that answered the last time and may be asked now: whether it answers tells most about our own network. Where it
 * has no URL left its robots.txt is put into its queue. Looks through all hosts, which is only done in an outage.
 */
export function hostThatAnswered(work: FetchWork, now: number): FetchHost | undefined {
  for (const host of work.hosts) {
    const {lastEnd, lastReason, nextAllowed} = host.politeness;
    const origin = host.origins[0];
    if (lastEnd === null || lastReason !== null || nextAllowed > now || origin === undefined) continue;
    if (host.rule?.blocked || openFrom(host.hours, now) > now || !work.queues.hasPlace(host.queue)) continue;
    if (host.queue.waiting === 0) work.robotsTurns.queue(host, origin, rootOf(origin));
    return host;
  }
  return undefined;
}

function rootOf(origin: string) {
  return {url: `${origin}/`, originUrl: `${origin}/`, depth: 0, seed: null};
}
