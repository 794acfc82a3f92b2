import type {Config} from '../lib/config/settings.ts';
import {CrawlError} from '../lib/errors.ts';
import {isLoopback} from '../lib/fetcher/hosts.ts';
import {connectToMap} from '../lib/http/connect-to.ts';

/**
 * A check to be called with each URL before it is asked for. Without a contact nothing but this machine is asked:
 * hosts that are loopback addresses, `localhost`, or connected to a loopback address by network.connect_to.
 *
 * @throws CrawlError CONTACT_MISSING where the request would leave this machine
 */
export function contactRule({agent, network}: Config): (url: string) => void {
  if (agent.contact !== undefined) return () => {};
  const connectTo = connectToMap(network.connect_to);
  const seen = new Set<string>();
  return (url) => {
    const {hostname, port, protocol, host} = new URL(url);
    if (seen.has(host)) return;
    seen.add(host);
    const bare = hostname.replace(/^\[|\]$/g, '');
    const target = connectTo(bare, Number(port) || (protocol === 'https:' ? 443 : 80))?.host ?? bare;
    if (target === 'localhost' || target.endsWith('.localhost') || isLoopback(target)) return;
    throw new CrawlError('CONTACT_MISSING', `agent.contact is not set, and ${bare} is not this machine`, {
      facts: {host: bare},
    });
  };
}
