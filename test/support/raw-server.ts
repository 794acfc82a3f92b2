import {createServer, type Server, type Socket} from 'node:net';
import {createServer as createTlsServer, type TlsOptions} from 'node:tls';

/**
 * A server on loopback that sends the bytes a test gives it, and keeps what it received. It speaks no HTTP by
 * itself, so that a test can be as broken as the web is.
 */
export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** As http://127.0.0.1:PORT */
  readonly origin: string;
  /** Request headers in the order of their arrival, each up to and with its empty line, as latin1. */
  readonly requests: readonly string[];
  /** How many connections were accepted. */
  readonly connections: number;
  /** Sockets open at this moment. */
  readonly open: ReadonlySet<Socket>;
  /** Resolves when every socket that is open now has closed, however it ended: a reset is an end too. */
  allClosed(): Promise<void>;
  close(): Promise<void>;
}

/** One request: its header as latin1, and how many came before it on its connection. */
export interface RawRequest {
  readonly header: string;
  readonly path: string;
  readonly nth: number;
  readonly connection: number;
}

/** Writes the answer. Ending or destroying the socket is up to it. */
export type RawAnswer = (socket: Socket, request: RawRequest) => void;

export interface RawServerOptions {
  readonly host?: string;
  readonly tls?: TlsOptions;
  /** Called for each connection before anything is read. */
  readonly onConnection?: (socket: Socket) => void;
}

/** Starts a server that calls `answer` for each complete request header. Bodies of requests are not read. */
export async function rawServer(answer: RawAnswer, options: RawServerOptions = {}): Promise<RawServer> {
  const requests: string[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  const accept = (socket: Socket): void => {
    const connection = connections;
    let received = '';
    let nth = 0;
    connections += 1;
    open.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    options.onConnection?.(socket);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        const header = received.slice(0, end + 4);
        received = received.slice(end + 4);
        requests.push(header);
        answer(socket, {header, path: header.split(' ')[1] ?? '', nth, connection});
        nth += 1;
      }
    });
  };
  const server: Server =
    options.tls === undefined ? createServer(accept) : createTlsServer(options.tls, accept);
  server.on('tlsClientError', () => undefined);
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const close = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  };
  return {
    port,
    origin: `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests,
    open,
    allClosed: async () => {
      await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    },
    get connections() {
      return connections;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** An answer with these bytes, which then closes its side. */
export function bytesThenEnd(bytes: Uint8Array | string): RawAnswer {
  return (socket) => socket.end(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
}

/** An answer with these bytes that keeps the connection. */
export function bytesOnly(bytes: Uint8Array | string): RawAnswer {
  return (socket) => {
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  };
}
