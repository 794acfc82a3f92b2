import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {performance} from 'node:perf_hooks';
import type {TestContext} from 'node:test';

export interface ServedPage {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface ServedRequest {
  readonly host: string;
  readonly path: string;
  /** Milliseconds on a clock that never jumps. */
  readonly startedMs: number;
  endedMs: number;
}

export interface ServedWeb {
  readonly address: string;
  readonly seen: readonly ServedRequest[];
  /** Arguments that make a crawl reach these hosts here. */
  readonly flags: readonly string[];
}

/**
 * Serves hosts over HTTP on loopback until the test ends. A page that `page` does not know is 404; without a
 * Content-Type of its own a page is HTML.
 */
export async function serveWeb(
  t: TestContext,
  page: (host: string, path: string) => ServedPage | string | undefined,
): Promise<ServedWeb> {
  const seen: ServedRequest[] = [];
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    const path = request.url ?? '/';
    const entry: ServedRequest = {host, path, startedMs: performance.now(), endedMs: Number.NaN};
    seen.push(entry);
    const found = page(host, path);
    const {
      status = 200,
      headers = {},
      body = '',
    } = typeof found === 'string' ? {body: found} : (found ?? {status: 404, body: 'no such page'});
    response.on('finish', () => {
      entry.endedMs = performance.now();
    });
    response.writeHead(status, {
      'content-type': 'text/html',
      'content-length': Buffer.byteLength(body),
      ...headers,
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    seen,
    flags: [
      '--contact',
      'test@example.org',
      '--set',
      `network.connect_to=*:80=${address}`,
      '--set',
      'network.allow=127.0.0.0/8',
      '--set',
      'politeness.min_delay=0s',
      '--set',
      'politeness.latency_factor=0',
    ],
  };
}
