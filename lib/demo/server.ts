import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {performance} from 'node:perf_hooks';
import {demoPage} from './web.ts';

/** One request as the server saw it. Times are milliseconds on a clock that never jumps. */
export interface SeenRequest {
  readonly host: string;
  readonly path: string;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly userAgent: string;
}

export interface DemoServer {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
}

/** Serves the demo web, all hosts of it, over HTTP on loopback at a port that is free. */
export async function startDemoServer(): Promise<DemoServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const startedMs = performance.now();
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    const path = request.url ?? '/';
    const page = demoPage(host, path) ?? {
      status: 421,
      type: 'text/plain; charset=utf-8',
      body: 'No such host here.\n',
    };
    response.on('finish', () =>
      seen.push({
        host,
        path,
        startedMs,
        endedMs: performance.now(),
        userAgent: request.headers['user-agent'] ?? '',
      }),
    );
    response.writeHead(page.status, {
      'content-type': page.type,
      'content-length': Buffer.byteLength(page.body),
    });
    response.end(request.method === 'HEAD' ? undefined : page.body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const {port} = server.address() as AddressInfo; // listening on TCP
  return {
    address: `127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
