import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Cookies} from '../../lib/http/cookies.ts';
import {get, latin1, loopbackClient} from '../support/loopback-client.ts';
import {rawServer} from '../support/raw-server.ts';

const set = (cookies: Cookies, url: string, ...lines: string[]) =>
  cookies.take(
    new URL(url),
    lines.map((line) => ['Set-Cookie', line] as const),
  );

test('to whom a cookie goes', () => {
  const cookies = new Cookies();
  set(
    cookies,
    'https://www.example.co.uk/a/b',
    'own=1',
    'wide=2; Domain=example.co.uk; Path=/',
    'suffix=3; Domain=co.uk; Path=/',
    'other=4; Domain=example.com; Path=/',
    'safe=5; Secure; Path=/',
    'deep=6; Path=/a/b',
    'gone=7; Max-Age=0; Path=/',
    'script=8; HttpOnly; Path=/',
    'not a cookie; Path=/',
    '__Host-bad=9; Path=/x; Secure',
    // It could never be sent back
    'control=a\u007fb; Path=/',
  );
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['https://www.example.co.uk/a/b/c', 'deep=6; own=1; wide=2; safe=5; script=8'],
    ['http://www.example.co.uk/', 'wide=2; script=8'],
    ['https://example.co.uk/', 'wide=2'],
    ['https://other.example.co.uk/', 'wide=2'],
    ['https://other.co.uk/', undefined],
    ['https://example.com/', undefined],
    ['https://127.0.0.1/', undefined],
  ];
  for (const [url, header] of cases) assert.equal(cookies.headerFor(new URL(url)), header, url);
  set(cookies, 'https://www.example.co.uk/', 'own=; Path=/a; Expires=Thu, 01 Jan 1970 00:00:00 GMT');
  assert.doesNotMatch(cookies.headerFor(new URL('https://www.example.co.uk/a/b')) ?? '', /own/);
});

test('a private suffix is one too, and addresses keep their own', () => {
  const cookies = new Cookies();
  set(cookies, 'https://one.github.io/', 'a=1; Domain=github.io; Path=/', 'b=2; Path=/');
  assert.equal(cookies.headerFor(new URL('https://one.github.io/')), 'b=2');
  assert.equal(cookies.headerFor(new URL('https://two.github.io/')), undefined);
  set(cookies, 'http://127.0.0.1:8080/', 'c=3');
  assert.equal(
    cookies.headerFor(new URL('http://127.0.0.1/x')),
    'c=3',
    'RFC 6265, 8.5: ports are not told apart',
  );
});

test('bounds: of a cookie, of a domain, of the header', () => {
  const cookies = new Cookies();
  const url = new URL('http://many.test/');
  set(cookies, url.href, `long=${'x'.repeat(5000)}`);
  assert.equal(cookies.headerFor(url), undefined);
  for (let n = 0; n < 60; n++) set(cookies, url.href, `c${n}=${n}`);
  assert.equal(cookies.headerFor(url)?.split('; ').length, 50);
  assert.match(cookies.headerFor(url) ?? '', /^c10=10; /);
  for (let n = 0; n < 50; n++) set(cookies, url.href, `d${n}=${'y'.repeat(1000)}`);
  assert.ok((cookies.headerFor(url) ?? '').length <= 8192);
});

test('a client sends what was set where it is asked to, on redirects too, and nothing otherwise', async () => {
  await using server = await rawServer((socket, {path}) => {
    const more =
      path === '/login' ? 'Set-Cookie: id=7; Path=/\r\nSET-COOKIE: lang=en\r\nLocation: /\r\n' : '';
    socket.write(`HTTP/1.1 ${more === '' ? 200 : 302} X\r\n${more}Content-Length: 0\r\n\r\n`);
  });
  for (const on of [true, false]) {
    await using client = loopbackClient({cookies: on});
    await get(client, `${server.origin}/login`);
    const exchange = await get(client, `${server.origin}/in`);
    const header = latin1(exchange.requestHeader) ?? '';
    assert.equal(header, server.requests.at(-1));
    assert.equal(/\r\nCookie: (.*)\r\n/.exec(header)?.[1], on ? 'id=7; lang=en' : undefined);
  }
});

test('a cookie of the operator’s and those of the run are one header, masked', async () => {
  await using server = await rawServer((socket) =>
    socket.write('HTTP/1.1 200 X\r\nSet-Cookie: id=7\r\nContent-Length: 0\r\n\r\n'),
  );
  const credentials = new Map([[server.origin, [['Cookie', 'login=secret'] as const]]]);
  await using client = loopbackClient({cookies: true, credentials});
  await get(client, server.origin);
  const exchange = await get(client, server.origin);
  assert.match(server.requests.at(-1) ?? '', /\r\nCookie: login=secret; id=7\r\n/);
  assert.match(latin1(exchange.requestHeader) ?? '', /\r\nCookie: \*\*\*\r\n/);
});
