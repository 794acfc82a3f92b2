import assert from 'node:assert/strict';
import {once} from 'node:events';
import {createSecureServer, type ServerHttp2Session} from 'node:http2';
import type {AddressInfo} from 'node:net';
import {test} from 'node:test';
import {headerFields} from '../../lib/parse/headers.ts';
import {certificate} from '../support/certificate.ts';
import {fetchCrawl} from '../support/fetch-crawl.ts';

test('fetch.http2, fetch.cookies and network.unverified_hosts reach the requests and the rows', async (t) => {
  const cookies: (string | undefined)[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const server = createSecureServer(certificate('site', 'DNS:elsewhere.test'));
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    cookies.push(headers.cookie);
    stream.respond({
      ':status': headers[':path'] === '/robots.txt' ? 404 : 200,
      'content-type': 'text/html; charset=koi8-r',
      'set-cookie': 'id=7',
    });
    stream.end('<title>A page</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const {port} = server.address() as AddressInfo; // listening on TCP
  const crawl = await fetchCrawl(t, [
    `network.connect_to=*:443=127.0.0.1:${port}`,
    'network.unverified_hosts=a.test',
    'fetch.http2=on',
    'fetch.cookies=run',
  ]);
  await crawl.generate('20270101000000', ['https://a.test/1', 'https://b.test/1']);
  await crawl.fetch();
  const rows = await crawl.sql<{response_header: Uint8Array | null} & Readonly<Record<string, unknown>>>(
    `SELECT url, kind, reason, fetch_status, protocol, tls_verified, reason_detail, response_header
     FROM captures WHERE kind = 'page' ORDER BY url`,
  );
  const [a, b] = rows;
  assert.deepEqual([a?.reason, a?.fetch_status, a?.protocol, a?.tls_verified], [null, 200, 'h2', false]);
  assert.match(String(a?.reason_detail), /^certificate let pass: /);
  assert.deepEqual(headerFields(a?.response_header ?? null).get('content-type'), [
    'text/html; charset=koi8-r',
  ]);
  assert.deepEqual([b?.reason, b?.tls_verified, b?.response_header], ['tls', null, null]);
  assert.deepEqual(cookies, [undefined, 'id=7'], 'robots.txt has set it');
});
