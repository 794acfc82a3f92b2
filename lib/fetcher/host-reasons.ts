import type {Reason} from '../schema/reason.ts';
import type {FetchHost} from './hosts.ts';

/** URLs of the fetchlist that ended at a host with one reason. */
export interface HostReason {
  readonly host: string;
  readonly reason: Reason;
  readonly urls: number;
}

const namedHosts = 5; // chosen: they fit a line

/** Hosts with most URLs that ended with one reason, of several lists the first few of all. */
export function mostOf(found: Iterable<HostReason>): HostReason[] {
  let most: HostReason[] = [];
  for (const one of found) {
    if (most.length === namedHosts && most.at(-1)!.urls >= one.urls) continue;
    most = [...most, one].sort((a, b) => b.urls - a.urls).slice(0, namedHosts);
  }
  return most;
}

export function* reasonsOf(hosts: Iterable<FetchHost>): Generator<HostReason> {
  for (const {name, reasons} of hosts)
    for (const [reason, urls] of Object.entries(reasons ?? {}))
      yield {host: name, reason: reason as Reason, urls}; // its keys
}
