import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import type {Reason} from '../../lib/schema/reason.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {rawServer} from '../support/raw-server.ts';

const file = 'http/responses-curl.jsonl';

interface Case {
  readonly id: string;
  readonly keywords: readonly string[];
  readonly response_base64: string;
  readonly client_output_base64?: string;
  readonly curl_exit_code?: number;
  readonly bare_lf?: boolean;
}

/** Answers that don't end well, with the reason that their row gets. All others are complete answers. */
const failures: Readonly<Record<string, Reason>> = {
  test36: 'http_malformed', // chunk size that is none
  test207: 'reset', // chunked body without its end
  test223: 'reset', // shorter than Content-Length
  test262: 'http_malformed', // NUL bytes in the header
  test376: 'reset', // shorter than Content-Length
  test387: 'http_malformed', // a hundred transfer codings
  test768: 'http_malformed', // two different Content-Length
  test1032: 'reset', // answer to HEAD, which we never send: its length is missing
  test1164: 'http_malformed', // HTTP/0.9: zero bytes without a header; curl asks for it by option
  test1416: 'http_malformed', // chunk size larger than 52 bits
  test1430: 'http_malformed', // status -12
  test1431: 'http_malformed', // status 2
  test1432: 'http_malformed', // status of 77 digits
  test1433: 'http_malformed', // version of 60 digits
  test1482: 'http_malformed', // chunked twice: curl reads it, the Fetch standard does not
  test1483: 'http_malformed', // the same in two headers
  test1484: 'http_malformed', // answer to HEAD: no chunks follow
  test1495: 'http_malformed',
  test1496: 'http_malformed',
  test1546: 'http_malformed', // transfer coding chunked, gzip
  test1665: 'reset', // ends inside the header
  test1722: 'http_malformed',
  test1723: 'http_malformed',
  test2093: 'reset', // Content-Length 2^63-1
  test2119: 'http_malformed', // transfer coding identityx
};

/** curl fails here, a browser and we do not. */
const curlAlone: Readonly<Record<string, string>> = {
  test24: '--fail: a 404 is an error there',
  test25: 'redirect limit',
  test38: 'resume of a download',
  test393: 'Content-Length of 66 bits: browsers read to the end of the connection',
  test398: 'a header line without a colon is left out',
  test415: 'Content-Length with a bare CR in it: as if absent',
  test457: '--max-filesize',
  test580: 'two Location headers: a matter of the redirect, not of the answer',
  test752: '--fail',
  test772: 'two Location headers',
  test1261: 'redirect limit',
  test1425: 'writes to a terminal',
  test1637: '--fail',
  test1704: 'status 101 as final answer: complete here, http_other for the row',
  test1801: 'status 101 as final answer',
  test2305: 'writes to a broken output',
};

/** Tests whose output is more, or something else, than the answer's body. */
const printsOther: Readonly<Record<string, string>> = {
  test326: '--raw: the chunks undecoded',
  test1424: 'not modified since the asked time: no body printed',
  test1540: 'prints what its callbacks get',
};

test('each of curl’s 163 answers ends as an exchange that says what happened', {
  skip: withoutCorpus(file),
  timeout: 60_000,
}, async () => {
  const cases = readFileSync(corpus(file) ?? '', 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);
  const byPath = new Map(cases.map((one) => [`/${one.id}`, Buffer.from(one.response_base64, 'base64')]));
  await using server = await rawServer((socket, request) => socket.end(byPath.get(request.path) ?? ''));
  await using client = loopbackClient();
  assert.equal(cases.length, 163);
  for (const one of cases) {
    const raw = one.response_base64 === '' ? Buffer.alloc(0) : (byPath.get(`/${one.id}`) ?? Buffer.alloc(0));
    const exchange = await get(client, `${server.origin}/${one.id}`);
    assert.equal(exchange.reason, failures[one.id] ?? null, `${one.id}: ${exchange.detail}`);
    const curlFailed = (one.curl_exit_code ?? 0) !== 0;
    if (curlFailed && exchange.reason === null) assert.ok(one.id in curlAlone, one.id);
    if (exchange.reason === null) {
      // What is kept is what was sent: the header somewhere in it, the body (unless chunked) right behind.
      const header = Buffer.from(exchange.responseHeader ?? []);
      const at = raw.indexOf(header);
      assert.ok(header.length > 0 && at >= 0, one.id);
      const chunked = exchange.head?.headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
      if (!chunked) {
        const behind = raw.subarray(at + header.length, at + header.length + (exchange.body?.length ?? 0));
        assert.deepEqual(Buffer.from(exchange.body ?? []), behind, one.id);
      }
    } else if (exchange.head !== null) {
      assert.equal(exchange.truncated, 'disconnect', one.id);
    }
  }
});

test('the bodies are those that curl prints', {skip: withoutCorpus(file)}, async () => {
  const cases = readFileSync(corpus(file) ?? '', 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case)
    // Where curl prints one undecoded answer and nothing else.
    .filter(
      (one) =>
        one.client_output_base64 !== undefined &&
        (one.curl_exit_code ?? 0) === 0 &&
        !(one.id in failures) &&
        !/compressed|FOLLOWLOCATION|Resume|--write-out|cookiejar|retry/i.test(one.keywords.join()) &&
        !(one.id in printsOther) &&
        Buffer.from(one.client_output_base64, 'base64')
          .toString('latin1')
          .split(/^HTTP\/1/m).length < 3,
    );
  const byPath = new Map(cases.map((one) => [`/${one.id}`, Buffer.from(one.response_base64, 'base64')]));
  await using server = await rawServer((socket, request) => socket.end(byPath.get(request.path) ?? ''));
  await using client = loopbackClient();
  const differ: string[] = [];
  for (const one of cases) {
    const body = latin1((await get(client, `${server.origin}/${one.id}`)).body);
    const printed = Buffer.from(one.client_output_base64 ?? '', 'base64').toString('latin1');
    // With the header, where the test asks curl for it.
    const alone = printed.startsWith('HTTP/') ? printed.replace(/^[\s\S]*?\r?\n\r?\n/, '') : printed;
    // Behind a chunked body curl prints the trailers.
    const chunked = one.keywords.includes('chunked Transfer-Encoding') && body !== null && body.length > 0;
    if (chunked ? !alone.startsWith(body) : body !== alone) differ.push(one.id);
  }
  assert.ok(cases.length >= 5, String(cases.length));
  assert.deepEqual(differ, []);
});
