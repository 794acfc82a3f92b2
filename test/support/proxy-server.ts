import {once} from 'node:events';
import {createServer, request as httpRequest, type IncomingMessage} from 'node:http';
import {type AddressInfo, connect, type Socket} from 'node:net';

/** A proxy on loopback that takes every host for a server on 127.0.0.1, and keeps what it was asked. */
export interface ProxyServer extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
  /** `GET http://…` and `CONNECT host:port`, in order, with what came as Proxy-Authorization. */
  readonly asked: readonly {readonly line: string; readonly password: string | undefined}[];
}

export interface ProxyManner {
  /** Status for what it does not pass on; undefined: it does. */
  readonly refuse?: (line: string, password: string | undefined) => number | undefined;
  /** Never answers CONNECT. */
  readonly silent?: boolean;
}

/** @param portOf where a `host:port` is really served */
export async function proxyServer(
  portOf: (place: string) => number,
  {refuse, silent = false}: ProxyManner = {},
): Promise<ProxyServer> {
  const asked: {line: string; password: string | undefined}[] = [];
  const open = new Set<Socket>();
  const note = (request: IncomingMessage): number | undefined => {
    const line = `${request.method} ${request.url}`;
    const password = request.headers['proxy-authorization'];
    asked.push({line, password});
    return refuse?.(line, password);
  };
  const server = createServer((request, response) => {
    const status = note(request);
    if (status !== undefined) {
      response.writeHead(status).end('the proxy says no');
      return;
    }
    const {host, pathname, search} = new URL(request.url ?? '');
    const {'proxy-authorization': _own, ...headers} = request.headers;
    const onward = {host: '127.0.0.1', port: portOf(host), path: pathname + search, headers};
    httpRequest(onward, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    }).end();
  });
  server.on('connect', (request, socket: Socket) => {
    const status = note(request);
    if (silent) return;
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 4\r\n\r\nno!\n`);
      return;
    }
    const onward = connect(portOf(request.url ?? ''), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    socket.on('close', () => onward.destroy());
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo; // listening on TCP
  return {
    name: `127.0.0.1:${port}`,
    port,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
