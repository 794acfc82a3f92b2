import type {Config} from '../../lib/config/settings.ts';
import {createHttpClient} from '../../lib/http/client.ts';
import {connectionLimit} from '../../lib/http/descriptors.ts';
import type {HttpClient} from '../../lib/http/exchange.ts';
import {programVersion} from '../../lib/version.ts';
import {readCredentials, readProxies, type SecretPlaces} from './credentials.ts';

/**
 * The HTTP client as the configuration wants it.
 *
 * @param beside several clients share the descriptors of this process, for so many requests at once in all
 * @throws CrawlError CREDENTIAL_UNREADABLE
 */
export async function httpClient(
  config: Config,
  places: SecretPlaces,
  beside?: {readonly clients: number; readonly maxActive: number},
): Promise<HttpClient> {
  const {agent, network, fetch} = config;
  const contact = agent.contact === undefined ? '' : ` (+${agent.contact})`;
  const options = {
    userAgent: `${agent.name}/${programVersion}${contact}`,
    connectTimeoutMs: fetch.connect_timeout,
    idleTimeoutMs: fetch.idle_timeout,
    totalTimeoutMs: fetch.total_timeout,
    maxHeaderBytes: fetch.max_header,
    allow: network.allow,
    connectTo: network.connect_to,
    dnsServers: network.dns_servers,
    proxies: await readProxies(config, places),
    credentials: await readCredentials(config, places),
    unverifiedHosts: network.unverified_hosts,
    cookies: fetch.cookies === 'run',
    http2: fetch.http2 === 'on',
  };
  if (beside === undefined || beside.clients < 2) return createHttpClient(options);
  // What one keeps idle another can't take: together they leave room for all requests.
  const idle = Math.floor((connectionLimit() - beside.maxActive) / beside.clients);
  return createHttpClient(options, {maxConnections: Math.min(10_000, Math.max(1, idle))});
}
