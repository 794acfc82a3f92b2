import type {Config} from '../../lib/config/settings.ts';
import {CrawlError} from '../../lib/errors.ts';
import {isLoopback} from '../../lib/fetcher/hosts.ts';
import {connectToMap} from '../../lib/http/connect-to.ts';
import {proxyChoice} from '../../lib/http/proxy.ts';
import {readProxyRules} from '../http/credentials.ts';

/**
 * A check to be called with each URL before it is asked for. Without a contact nothing but this machine is asked:
 * hosts that are loopback addresses, `localhost`, or connected to a loopback address by network.connect_to. A proxy
 * that is not on this machine leads out of it, and network.connect_to does not count where there is one.
 *
 * @throws CrawlError CONTACT_MISSING where the request would leave this machine
 */
export function contactRule(config: Config): (url: string) => void {
  const {agent, network} = config;
  if (agent.contact !== undefined) return () => {};
  const proxyFor = proxyChoice(readProxyRules(config));
  const connectTo = connectToMap(network.connect_to);
  const seen = new Set<string>();
  return (url) => {
    const {hostname, port, protocol, host} = new URL(url);
    if (seen.has(host)) return;
    seen.add(host);
    const bare = hostname.replace(/^\[|\]$/g, '');
    const proxy = proxyFor(bare);
    const connected = connectTo(bare, Number(port) || (protocol === 'https:' ? 443 : 80))?.host ?? bare;
    if (proxy === undefined ? isHere(connected) : isHere(proxy.host) && isHere(bare)) return;
    throw new CrawlError('CONTACT_MISSING', `agent.contact is not set, and ${bare} is not this machine`, {
      facts: {host: bare},
    });
  };
}

function isHere(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isLoopback(host);
}
