import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {rawServer} from '../support/raw-server.ts';

const file = 'vectors/body-framing.json';

interface Case {
  readonly headers: string;
  readonly length: number | 'ignore' | 'chunked' | null;
}

const plain = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const chunked = `5\r\nhello\r\n1;ext=1\r\n \r\n5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n`;

test('bodies end where the Fetch standard says', {skip: withoutCorpus(file)}, async () => {
  const {cases} = JSON.parse(readFileSync(corpus(file) ?? '', 'utf8')) as {cases: Case[]};
  let answer = '';
  await using server = await rawServer((socket) => socket.end(answer));
  await using client = loopbackClient();
  assert.ok(cases.length > 0);
  for (const {headers, length} of cases) {
    answer = `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${length === 'chunked' ? chunked : plain}`;
    const exchange = await get(client, server.origin);
    if (length === null) {
      assert.equal(exchange.reason, 'http_malformed', headers);
      assert.equal(exchange.head?.status, 200, headers);
      assert.equal(exchange.body?.length, 0, headers);
      continue;
    }
    const expected =
      length === 'chunked' ? 'hello world' : length === 'ignore' ? plain : plain.slice(0, length);
    assert.equal(exchange.reason, null, `${headers}: ${exchange.detail}`);
    assert.equal(latin1(exchange.body), expected, headers);
    assert.equal(exchange.truncated, null, headers);
  }
});
