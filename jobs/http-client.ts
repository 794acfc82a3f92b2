import type {Config} from '../lib/config/settings.ts';
import {createHttpClient} from '../lib/http/client.ts';
import type {HttpClient} from '../lib/http/exchange.ts';
import {programVersion} from '../lib/version.ts';
import {readCredentials, readProxies, type SecretPlaces} from './http-credentials.ts';

/**
 * The HTTP client as the configuration wants it.
 *
 * @throws CrawlError CREDENTIAL_UNREADABLE
 */
export async function httpClient(config: Config, places: SecretPlaces): Promise<HttpClient> {
  const {agent, network, fetch} = config;
  const contact = agent.contact === undefined ? '' : ` (+${agent.contact})`;
  return createHttpClient({
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
  });
}
