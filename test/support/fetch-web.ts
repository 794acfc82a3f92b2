/** Scripted hosts behind one loopback port, which note when each request came and when its answer ended. */
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {TestContext} from 'node:test';

export interface ServedRequest {
  readonly host: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Milliseconds of performance.now. */
  readonly start: number;
  end: number;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Cuts the connection, before anything is sent or after half of the body. */
  readonly cut?: 'before' | 'within';
  /** Never answers. */
  readonly hang?: true;
  /** Answers when this is fulfilled. */
  readonly after?: Promise<unknown>;
}
/** Undefined: 404. */
export type Site = (path: string, request: IncomingMessage, times: number) => Answer | undefined;

export interface ServedWeb {
  readonly port: number;
  readonly requests: ServedRequest[];
  /** For network.connect_to: every host on port 80 is here. */
  readonly connectTo: string;
  /** Least pause of a host, from the end of an answer to the next request; Infinity below two requests. */
  leastGap(host: string): number;
  paths(host: string): string[];
}

export async function serveWeb(
  t: Pick<TestContext, 'after'>,
  sites: Readonly<Record<string, Site>>,
): Promise<ServedWeb> {
  const requests: ServedRequest[] = [];
  const times = new Map<string, number>();
  const server: Server = createServer((request, response) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    const path = request.url ?? '';
    const noted: ServedRequest = {
      host,
      path,
      headers: request.headers,
      start: performance.now(),
      end: Number.NaN,
    };
    requests.push(noted);
    response.on('close', () => {
      if (Number.isNaN(noted.end)) noted.end = performance.now();
    });
    const url = `${host}${path}`;
    const before = times.get(url) ?? 0;
    times.set(url, before + 1);
    const answer = sites[host]?.(path, request, before) ?? {status: 404, body: 'not here'};
    const end = () => {
      // Before the last byte is sent: after it, a busy machine may let the client go on first.
      if (!answer.hang) noted.end = performance.now();
      send(response, answer);
    };
    if (answer.after === undefined) end();
    else void answer.after.then(end);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const {port} = server.address() as AddressInfo; // listening on TCP
  return {
    port,
    requests,
    connectTo: `*:80=127.0.0.1:${port}`,
    leastGap(host) {
      const own = requests.filter((request) => request.host === host);
      return Math.min(...own.slice(1).map((request, index) => request.start - own[index]!.end));
    },
    paths: (host) => requests.filter((request) => request.host === host).map(({path}) => path),
  };
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer.hang) return;
  if (answer.cut === 'before') {
    response.socket?.destroy();
    return;
  }
  const body = Buffer.from(answer.body ?? '');
  response.writeHead(answer.status ?? 200, {
    'content-type': 'text/html',
    'content-length': body.length,
    ...answer.headers,
  });
  if (answer.cut === 'within')
    response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy());
  else response.end(body);
}
