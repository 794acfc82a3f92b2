import assert from 'node:assert/strict';
import type {Socket} from 'node:net';
import {test} from 'node:test';
import type {Exchange, HttpClientOptions} from '../../lib/http/exchange.ts';
import type {Reason} from '../../lib/schema/reason.ts';
import type {Truncation} from '../../lib/schema/status.ts';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {type RawAnswer, type RawServerOptions, rawServer} from '../support/raw-server.ts';

/** Who asks: with patience, or with one time-out small enough to wait for. What ends an exchange is asserted, not when. */
const clients: Readonly<Record<'patient' | 'idle' | 'total', Partial<HttpClientOptions>>> = {
  patient: {maxHeaderBytes: 16_384},
  idle: {maxHeaderBytes: 16_384, idleTimeoutMs: 800},
  total: {maxHeaderBytes: 16_384, totalTimeoutMs: 1_500},
};

/** Sends a piece each few milliseconds until nobody listens. */
function drip(piece: string, everyMs = 20): RawAnswer {
  return (socket) => {
    const timer = setInterval(() => socket.write(piece, 'latin1'), everyMs);
    socket.on('close', () => clearInterval(timer));
  };
}

/** Sends as fast as it is taken, for ever; in large pieces, since server and client share this process. */
function flood(start: string, piece: string): RawAnswer {
  const large = Buffer.from(piece.repeat(Math.ceil(32_768 / piece.length)), 'latin1');
  return (socket) => {
    const more = (): void => {
      if (socket.destroyed) return;
      if (socket.write(large)) setImmediate(more);
      else socket.once('drain', more);
    };
    socket.write(start, 'latin1');
    more();
  };
}

const then =
  (text: string, what: (socket: Socket) => void): RawAnswer =>
  (socket) => {
    socket.write(text, 'latin1', () => what(socket));
  };
const nothing = (): void => undefined;
const end = (socket: Socket): void => void socket.end();
const reset = (socket: Socket): void => void socket.resetAndDestroy();

interface Hostile {
  readonly name: string;
  readonly answer: RawAnswer;
  readonly options?: RawServerOptions;
  readonly by?: keyof typeof clients;
  readonly reason: Reason | null;
  readonly truncated?: Truncation;
  readonly body?: string | RegExp;
  readonly detail?: RegExp;
}

const head = 'HTTP/1.1 200 OK\r\n';
const cases: readonly Hostile[] = [
  {
    name: 'accepts and says nothing',
    answer: nothing,
    by: 'idle',
    reason: 'timeout',
    detail: /nothing came for 800 ms/,
  },
  {name: 'closes at once', answer: nothing, options: {onConnection: end}, reason: 'reset'},
  {name: 'closes instead of an answer', answer: end, reason: 'reset'},
  {name: 'resets instead of an answer', answer: reset, reason: 'reset'},
  {name: 'half a status line, silence', answer: then('HTTP/1.1 2', nothing), by: 'idle', reason: 'timeout'},
  {
    name: 'half a header, end',
    answer: then(`${head}X-A: 1\r\nX-B`, end),
    reason: 'reset',
    detail: /inside the response header/,
  },
  {name: 'half a header, reset', answer: then(`${head}X-A: 1\r\nX-B`, reset), reason: 'reset'},
  {name: 'header that drips for ever', answer: drip('X-A: 1\r\n'), reason: 'http_malformed'},
  {
    name: 'header that drips for ever behind a status line',
    answer: (socket, request) => {
      socket.write(head);
      drip('X-A: 1\r\n')(socket, request);
    },
    by: 'total',
    reason: 'timeout',
    detail: /complete answer within 1500 ms/,
  },
  {
    name: 'header without end',
    answer: flood(head, `X-A: ${'a'.repeat(1000)}\r\n`),
    reason: 'header_limit',
    detail: /16384/,
  },
  {
    name: 'one header line without end',
    answer: flood(`${head}X-A: `, 'a'.repeat(4000)),
    reason: 'header_limit',
  },
  {name: 'status line without end', answer: flood('HTTP/1.1 200 ', 'a'.repeat(4000)), reason: 'header_limit'},
  {name: 'empty lines without end', answer: flood('', '\r\n\r\n\r\n\r\n\r\n\r\n'), reason: 'http_malformed'},
  {
    name: 'interim answers without end',
    answer: drip('HTTP/1.1 102 Processing\r\n\r\n'),
    by: 'total',
    reason: 'timeout',
    detail: /complete answer/,
  },
  {
    name: 'noise without end',
    answer: flood('', '\x16\x03\x01\x00\xff'.repeat(100)),
    reason: 'http_malformed',
  },
  {
    name: 'an FTP greeting',
    answer: then('220 ready\r\n', nothing),
    reason: 'http_malformed',
    detail: /220 ready/,
  },
  {name: 'HTTP/0.9', answer: then('<html>hello</html>', end), reason: 'http_malformed'},
  {
    name: 'body that drips for ever',
    answer: (socket, request) => {
      socket.write(`${head}Content-Length: 100000\r\n\r\n`);
      drip('a')(socket, request);
    },
    by: 'total',
    reason: 'timeout',
    truncated: 'time',
    body: /^a+$/,
    detail: /complete answer within 1500 ms/,
  },
  {
    name: 'body that stops',
    answer: then(`${head}Content-Length: 100\r\n\r\nhalf`, nothing),
    by: 'idle',
    reason: 'timeout',
    truncated: 'time',
    body: 'half',
    detail: /nothing came/,
  },
  {
    name: 'body without end',
    answer: flood(`${head}\r\n`, 'a'.repeat(10_000)),
    reason: null,
    truncated: 'length',
    body: 'a'.repeat(1000),
  },
  {
    name: 'chunks without end',
    answer: flood(`${head}Transfer-Encoding: chunked\r\n\r\n`, '5\r\naaaaa\r\n'.repeat(100)),
    reason: null,
    truncated: 'length',
    body: 'a'.repeat(1000),
  },
  {
    name: 'chunk extension without end',
    answer: flood(`${head}Transfer-Encoding: chunked\r\n\r\n5;`, 'x'.repeat(4000)),
    reason: 'http_malformed',
    truncated: 'disconnect',
    body: '',
  },
  {
    name: 'trailers without end',
    answer: flood(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n`, 'X-A: 1\r\n'.repeat(200)),
    reason: 'http_malformed',
    truncated: 'disconnect',
    body: 'ok',
  },
  {
    name: 'shorter than it says, end',
    answer: then(`${head}Content-Length: 100\r\n\r\nhalf`, end),
    reason: 'reset',
    truncated: 'disconnect',
    body: 'half',
  },
  {
    name: 'shorter than it says, reset',
    answer: then(`${head}Content-Length: 100\r\n\r\nhalf`, (socket) => setTimeout(reset, 20, socket)),
    reason: 'reset',
    truncated: 'disconnect',
    body: 'half',
  },
  {
    name: 'longer than it says',
    answer: then(`${head}Content-Length: 2\r\n\r\nokHTTP/1.1 200`, end),
    reason: null,
    body: 'ok',
  },
  {
    name: 'chunked without the last chunk',
    answer: then(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n`, end),
    reason: 'reset',
    truncated: 'disconnect',
    body: 'ok',
  },
  {
    name: 'chunk size that is none',
    answer: then(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n-1\r\nxx`, nothing),
    reason: 'http_malformed',
    truncated: 'disconnect',
    body: 'ok',
  },
  {
    name: 'chunk size of 80 bits',
    answer: then(`${head}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffff0\r\nxx`, nothing),
    reason: 'http_malformed',
    truncated: 'disconnect',
    body: '',
  },
  {
    name: 'switches protocols unasked',
    answer: then('HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nblah', nothing),
    reason: null,
    body: '',
  },
  {
    name: '204 with a body',
    answer: then('HTTP/1.1 204 No\r\nContent-Length: 4\r\n\r\nbody', nothing),
    reason: null,
    body: '',
  },
];

/** Runs `use` with one client of each kind. */
async function withClients<T>(
  use: (ask: (by: keyof typeof clients, url: string) => Promise<Exchange>) => Promise<T>,
): Promise<T> {
  await using patient = loopbackClient(clients.patient);
  await using idle = loopbackClient(clients.idle);
  await using total = loopbackClient(clients.total);
  return await use((by, url) => get({patient, idle, total}[by], url, {maxBody: 1000}));
}

test('each hostile answer ends as an exchange with its reason, and what came is kept', async () => {
  const outcomes = await withClients((ask) =>
    Promise.all(
      cases.map(async ({answer, options, by}) => {
        await using server = await rawServer(answer, options);
        return await ask(by ?? 'patient', server.origin);
      }),
    ),
  );
  for (const [i, exchange] of outcomes.entries()) {
    const {name, reason, truncated, body, detail} = cases[i]!;
    assert.equal(exchange.reason, reason, `${name}: ${exchange.detail}`);
    assert.equal(exchange.truncated, truncated ?? null, name);
    if (body instanceof RegExp) assert.match(latin1(exchange.body) ?? '', body, name);
    else assert.equal(latin1(exchange.body), body ?? null, name);
    if (detail !== undefined) assert.match(exchange.detail ?? '', detail, name);
    assert.equal(exchange.sha1 === null, exchange.body === null, name);
    assert.ok(exchange.requestHeader !== null, name);
  }
});

test('a reset in a body that ends with its connection is no end', async () => {
  await using server = await rawServer(then(`${head}\r\nhalf`, nothing));
  await using client = loopbackClient();
  const exchange = await get(client, server.origin, {
    // The piece has been read when this is asked. (A reset that comes together with data is a plain end to libuv.)
    wantBody: () => {
      for (const socket of server.open) setImmediate(reset, socket);
      return true;
    },
  });
  assert.equal(exchange.reason, 'reset');
  assert.equal(exchange.truncated, 'disconnect');
  assert.equal(latin1(exchange.body), 'half');
});

test('a port where nobody listens', async () => {
  const server = await rawServer(nothing);
  await server.close();
  await using client = loopbackClient();
  const refused = await get(client, server.origin);
  assert.equal(refused.reason, 'connect');
  assert.match(refused.detail ?? '', /ECONNREFUSED/);
  assert.equal(refused.requestHeader, null);
  assert.equal(refused.connection, null);
});

test('a name server that never answers', async () => {
  await using client = loopbackClient(
    {totalTimeoutMs: 300},
    {resolve: () => new Promise(nothing), hosts: new Map()},
  );
  assert.equal((await get(client, 'http://slow.test/')).reason, 'dns');
});

test('many exchanges with servers of all kinds at once leave no socket behind', async () => {
  const servers = await Promise.all(cases.map(({answer, options}) => rawServer(answer, options)));
  try {
    const exchanges = await withClients((ask) =>
      Promise.all(
        [...cases, ...cases, ...cases].map(({by}, i) =>
          ask(by ?? 'patient', servers[i % cases.length]?.origin ?? ''),
        ),
      ),
    );
    for (const [i, exchange] of exchanges.entries()) {
      const {name, reason} = cases[i % cases.length]!;
      assert.equal(exchange.reason, reason, `${name}: ${exchange.detail}`);
    }
    for (const server of servers) await server.allClosed();
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
});
