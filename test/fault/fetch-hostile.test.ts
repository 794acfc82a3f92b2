import assert from 'node:assert/strict';
import type {Socket} from 'node:net';
import test from 'node:test';
import {gzipSync} from 'node:zlib';
import {fetchCrawl} from '../support/fetch-crawl.ts';
import {type RawRequest, rawServer} from '../support/raw-server.ts';

const segment = '20270101000000';
const text = (status: string, body: string, ...headers: string[]) =>
  [`HTTP/1.1 ${status}`, `Content-Length: ${body.length}`, ...headers, '', body].join('\r\n');
const drip = (socket: Socket, piece: string) => {
  const timer = setInterval(() => socket.write(piece), 20);
  socket.on('close', () => clearInterval(timer));
};
const flood = (socket: Socket, piece: Buffer) => {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
};
const bomb = gzipSync(Buffer.alloc(20 * 2 ** 20));

/** What each host does with its page; `robots` where it already does so with its robots.txt. */
const hosts: Readonly<Record<string, {robots?: true; answer: (socket: Socket) => void; expect: string}>> = {
  'silent.test': {answer: () => undefined, expect: 'retry timeout'},
  'drip.test': {
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      drip(socket, 'x');
    },
    expect: 'retry timeout',
  },
  'headers.test': {
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, Buffer.from(`X-More: ${'y'.repeat(1000)}\r\n`));
    },
    expect: 'retry header_limit',
  },
  'endless.test': {
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      flood(socket, Buffer.alloc(65_536, 'z'));
    },
    expect: 'success',
  },
  'reset.test': {answer: (socket) => socket.resetAndDestroy(), expect: 'retry reset'},
  'half.test': {
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => socket.destroy());
    },
    expect: 'retry reset',
  },
  'noise.test': {
    answer: (socket) => socket.end('\x00\x01\x02 no HTTP at all\r\n\r\n'),
    expect: 'retry http_malformed',
  },
  'bomb.test': {
    answer: (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.end(bomb);
    },
    expect: 'success',
  },
  'loop.test': {
    answer: (socket) => socket.write(text('302 Found', '', 'Location: /page')),
    expect: 'gone redirect_loop',
  },
  'inside.test': {
    answer: (socket) => socket.write(text('302 Found', '', 'Location: http://169.254.169.254.test/')),
    expect: 'redir_temp redirect',
  },
  'robots-silent.test': {robots: true, answer: () => undefined, expect: 'retry robots_unreachable'},
  'robots-bomb.test': {
    robots: true,
    answer: (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.end(bomb);
    },
    expect: 'success',
  },
  'robots-endless.test': {
    robots: true,
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /page\n');
      flood(socket, Buffer.alloc(65_536, '#\n'));
    },
    expect: 'gone robots_denied',
  },
};

test('a hostile web: each URL ends in a row that says what happened, and healthy hosts are fetched beside it', async (t) => {
  const server = await rawServer((socket: Socket, {header, path}: RawRequest) => {
    const host = /^host: ([^\r\n]*)/im.exec(header)![1]!;
    const hostile = hosts[host];
    const isRobots = path === '/robots.txt';
    if (hostile && isRobots === (hostile.robots === true)) hostile.answer(socket);
    else if (isRobots) socket.write(text('404 Not Found', ''));
    else socket.write(text('200 OK', `${host}${path}`));
  });
  t.after(() => server.close());
  const crawl = await fetchCrawl(t, [
    `network.connect_to=*:80=127.0.0.1:${server.port}`,
    'politeness.max_per_ip=100',
    'politeness.max_rest=1s',
    'fetch.idle_timeout=6s',
    'fetch.total_timeout=10s',
    'fetch.max_body=1MiB',
  ]);
  const healthy = Array.from({length: 20}, (_, index) => `http://healthy.test/${index}`);
  await crawl.generate(segment, [...Object.keys(hosts).map((host) => `http://${host}/page`), ...healthy]);
  await crawl.fetch();
  const rows = await crawl.sql<{host: string; said: string}>(
    `SELECT url_host_name AS host, concat_ws(' ', status, reason) AS said FROM captures
     WHERE kind = 'page' AND url_host_name <> 'healthy.test' ORDER BY 1`,
  );
  assert.deepEqual(
    rows.map(({host, said}) => `${host}: ${said}`),
    Object.entries(hosts)
      .map(([host, {expect}]) => `${host}: ${expect}`)
      .sort(),
  );
  const [good] = await crawl.sql<{n: number}>(
    `SELECT count(*)::INTEGER AS n FROM captures WHERE url_host_name = 'healthy.test' AND status = 'success'`,
  );
  assert.equal(good!.n, healthy.length);
  const cut = await crawl.sql<{host: string; truncated: string; length: number}>(
    `SELECT url_host_name AS host, content_truncated AS truncated, content_length AS length FROM captures
     WHERE kind = 'page' AND content_truncated IS NOT NULL ORDER BY 1`,
  );
  assert.deepEqual(
    cut.map(({host, truncated}) => `${host} ${truncated}`),
    ['drip.test time', 'endless.test length', 'half.test disconnect'],
  );
  assert.equal(cut[1]!.length, 2 ** 20);
  const order = server.requests
    .filter((header) => /^host: healthy/im.test(header))
    .map((header) => header.split(' ')[1]);
  assert.deepEqual(order, ['/robots.txt', ...healthy.map((url) => new URL(url).pathname)]);
});
