import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import type {Reason} from '../../lib/schema/reason.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {get, loopbackClient} from '../support/loopback-client.ts';
import {rawServer} from '../support/raw-server.ts';

const folder = 'http/llhttp-response';

/** Answers that don't end well; the server closes behind each. All others are complete. */
const failures: Readonly<Record<string, Reason>> = {
  'HTTP 103 first, then 200': 'reset', // Content-Length is larger than the body
  'Content-Length reset when no body is received': 'reset', // an answer to HEAD
  'Tabs in `Content-Length` (surrounding)': 'reset', // no body there
  'Google 301': 'reset', // shorter than Content-Length
  'Incomplete HTTP protocol': 'http_malformed',
  'Extra digit in HTTP major version': 'http_malformed',
  'Extra digit in HTTP major version #2': 'http_malformed',
  'Extra digit in HTTP minor version': 'http_malformed',
  'CR before response and tab after HTTP version': 'http_malformed',
  'Invalid HTTP version': 'http_malformed',
  'Invalid space after start line': 'reset', // the header has no end
  'One-digit status code': 'http_malformed',
  'RTSP response': 'http_malformed', // llhttp reads this protocol too
  'ICE response': 'http_malformed', // the same; what Shoutcast sends is ICY
  'Error on invalid response start': 'http_malformed',
};

/** llhttp refuses these; browsers and we read them, and the exchange says so. */
const lenient: Readonly<Record<string, RegExp>> = {
  'Tab after HTTP version': /odd status line/,
  'Headers separated by CR': /bare CR/,
  'Bare CR after response line': /bare CR/,
  'Bare CR followed by CR after response line': /bare CR/,
  'Extra space between HTTP version and status code': /odd status line/,
  'Only LFs present and no body': /bare LF/,
  'Only LFs present': /bare LF/,
  'No carriage ret': /bare LF/,
};

/** llhttp stops here for reasons that are no fault of the answer to a GET. */
const otherStops = new Set([
  'HTTP/1.1 with keep-alive disabled and 204 status', // data after the end of the answer
  'HTTP/1.1 with keep-alive disabled, content-length',
  'HTTP 101 response with Upgrade and Content-Length header',
  'HTTP 101 response with Upgrade and Transfer-Encoding header',
  'Spaces in header name', // read as it is; the name is nobody's
]);

interface Case {
  readonly title: string;
  readonly raw: Buffer;
  readonly log: string;
}

function casesOf(text: string): Case[] {
  const pattern =
    /^#+ ([^\n]*)\n(?:(?!```|^#)[\s\S])*?<!-- meta=.*? -->\n```http\n((?:(?!```)[\s\S])*?)\n```\n(?:(?!```)[\s\S])*?```log\n([\s\S]*?)```/gm;
  return [...text.matchAll(pattern)].map(([, title = '', body = '', log = '']) => ({
    title,
    log,
    // The files' notation: lines end in CRLF, `\n` stands for LF, a backslash at a line's end joins lines.
    raw: Buffer.from(
      body
        .replaceAll('\\\n', '')
        .replaceAll('\n', '\r\n')
        .replaceAll('\\r', '\r')
        .replaceAll('\\n', '\n')
        .replaceAll('\\t', '\t')
        .replaceAll('\\f', '\f')
        .replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    ),
  }));
}

test('each of llhttp’s responses ends as an exchange that says what happened', {
  skip: withoutCorpus(folder),
  timeout: 60_000,
}, async () => {
  const root = corpus(folder) ?? '';
  const cases = readdirSync(root).flatMap((name) => casesOf(readFileSync(join(root, name), 'utf8')));
  let answer: Buffer = Buffer.alloc(0);
  await using server = await rawServer((socket) => socket.end(answer));
  await using client = loopbackClient();
  assert.ok(cases.length >= 70, String(cases.length));
  for (const {title, raw, log} of cases) {
    answer = raw;
    const exchange = await get(client, server.origin);
    const refused = log.includes('error code=');
    assert.equal(exchange.reason, failures[title] ?? null, `${title}: ${exchange.detail}`);
    const odd = lenient[title];
    if (odd !== undefined) assert.match(exchange.detail ?? '', odd, title);
    if (refused && exchange.reason === null) assert.ok(odd !== undefined || otherStops.has(title), title);
    if (!refused && exchange.reason === null && log.split('message begin').length === 2) {
      const status = /headers complete status=(\d+)/.exec(log)?.[1];
      const lengths = [...log.matchAll(/len=(\d+) span\[body\]/g)].map(([, length]) => Number(length));
      assert.equal(exchange.head?.status, Number(status), title);
      assert.equal(
        exchange.body?.length,
        lengths.reduce((sum, length) => sum + length, 0),
        title,
      );
    }
  }
});
