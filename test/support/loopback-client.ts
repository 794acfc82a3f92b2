import {createHttpClient, type HttpClientEdges} from '../../lib/http/client.ts';
import type {Exchange, HttpClient, HttpClientOptions, HttpRequest} from '../../lib/http/exchange.ts';

/** An HTTP client that may reach loopback; its time-outs are long enough never to fire by chance. */
export function loopbackClient(
  options: Partial<HttpClientOptions> = {},
  edges: HttpClientEdges = {},
): HttpClient & AsyncDisposable {
  const client = createHttpClient(
    {
      userAgent: 'crawl-test/1.0',
      connectTimeoutMs: 10_000,
      idleTimeoutMs: 10_000,
      totalTimeoutMs: 20_000,
      maxHeaderBytes: 65_536,
      allow: ['127.0.0.0/8', '::1'],
      connectTo: {},
      dnsServers: [],
      ...options,
    },
    edges,
  );
  return {
    exchange: (request) => client.exchange(request),
    addresses: (url) => client.addresses(url),
    release: (origin) => client.release(origin),
    close: () => client.close(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** GET with the defaults of most tests. */
export function getOnce(
  client: HttpClient,
  url: string,
  request: Partial<HttpRequest> = {},
): Promise<Exchange> {
  return client.exchange({url, headers: [['Accept', '*/*']], maxBody: 1_000_000, ...request});
}

/** The same; once more where a kept connection was closed, as a fetch does when the delay is over. */
export async function get(
  client: HttpClient,
  url: string,
  request: Partial<HttpRequest> = {},
): Promise<Exchange> {
  const first = await getOnce(client, url, request);
  return first.stale ? getOnce(client, url, request) : first;
}

export function latin1(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('latin1');
}
