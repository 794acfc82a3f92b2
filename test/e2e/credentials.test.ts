import assert from 'node:assert/strict';
import {once} from 'node:events';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {type TableName, tables} from '../../lib/schema/tables.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {crawl, type Ran, temporaryFolder} from '../support/cli.ts';
import {proxyServer} from '../support/proxy-server.ts';

const password = 'correct-horse-battery';
const token = 'tok-51d2f6b1';
const proxyPassword = 'proxy-staple-9';
const encoded = (text: string) => Buffer.from(text).toString('base64');
/** Whatever of them could be found: as written, and as sent. */
const secrets = [password, token, proxyPassword, encoded(`me:${password}`), encoded(`us:${proxyPassword}`)];

async function listening(t: TestContext, answer: (request: IncomingMessage) => Record<string, string>) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    const {location, ...headers} = answer(request);
    response.writeHead(location === undefined ? 200 : 302, {...headers, ...(location && {location})});
    response.end('<title>A page</title><p>Words.');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  return {seen, port: (server.address() as AddressInfo).port};
}

/** Bytes of all files below a folder, and all values of all tables of the crawl, since Parquet is compressed. */
async function everything(dir: string): Promise<string[]> {
  const names = readdirSync(dir, {recursive: true, withFileTypes: true}).filter((entry) => entry.isFile());
  const texts = names.map((entry) =>
    readFileSync(join(entry.parentPath ?? entry.path, entry.name), 'latin1'),
  );
  assert.ok(texts.length > 20, 'the files were found');
  const store = await openCrawl(dir);
  const head = await store.head();
  let rows = 0;
  for (const name of Object.keys(tables) as TableName[])
    for (const file of await head.tableFiles(name))
      for await (const batch of readTable(tables[name], store.path(file)))
        for (const row of batch) {
          rows++;
          for (const value of Object.values(row))
            texts.push(value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value));
        }
  assert.ok(rows > 5, 'the tables were read');
  return texts;
}

test('credentials reach their own origin and nobody else, and nothing of them is kept or shown', async (t) => {
  const other = await listening(t, () => ({}));
  const own = await listening(t, ({url}) =>
    url === '/away' ? {location: `http://127.0.0.1:${other.port}/landed`} : {},
  );
  await using proxy = await proxyServer((place) => Number(place.split(':')[1]));
  const dir = temporaryFolder(t);
  const origin = `http://127.0.0.1:${own.port}`;
  await crawl(dir, ['init', '.']);
  writeFileSync(join(dir, 'token.txt'), `X-Api-Key: ${token}\nCookie: session=${token}\n`);
  writeFileSync(
    join(dir, 'crawl.yaml'),
    `network:
  allow: [127.0.0.0/8]
  proxy: http://${proxy.name}
politeness: {latency_factor: 0}
credentials:
  basic:
    ${origin}: env:SITE_LOGIN
  headers:
    ${origin}: file:token.txt
  proxy:
    ${proxy.name}: env:PROXY_LOGIN
`,
  );
  const env = {SITE_LOGIN: `me:${password}`, PROXY_LOGIN: `us:${proxyPassword}`};
  const ran: Ran[] = [];
  const run = async (...argv: string[]) => {
    ran.push(await crawl(dir, argv, {env}));
    assert.equal(ran.at(-1)?.code, 0, ran.at(-1)?.stderr);
  };
  await run('inject', `${origin}/away`, `http://127.0.0.1:${other.port}/page`);
  await run('generate');
  await run('fetch');
  await run('updatedb');
  await run('config');
  await run('config', '--json');
  await run('explain', `${origin}/away`);
  await run('sql', 'SELECT * FROM captures', '--json');

  const paths = (seen: readonly IncomingMessage[]) => seen.map(({url}) => url).sort();
  assert.deepEqual(paths(own.seen), ['/away', '/robots.txt']);
  assert.deepEqual(paths(other.seen), ['/landed', '/page', '/robots.txt']);
  for (const {headers} of own.seen) {
    assert.equal(headers.authorization, `Basic ${encoded(`me:${password}`)}`);
    assert.equal(headers['x-api-key'], token);
    assert.equal(headers.cookie, `session=${token}`);
  }
  for (const {rawHeaders} of other.seen)
    assert.doesNotMatch(rawHeaders.join(), /authorization|api-key|cookie/i);
  assert.equal(proxy.asked.length, 5);
  for (const {password: given} of proxy.asked) assert.equal(given, `Basic ${encoded(`us:${proxyPassword}`)}`);

  const kept = (await everything(dir)).filter((text) => !text.startsWith('X-Api-Key: tok-')); // the file itself
  const shown = ran.flatMap(({stdout, stderr}) => [stdout, stderr]);
  for (const secret of secrets)
    for (const text of [...kept, ...shown])
      assert.ok(!text.includes(secret), `${secret} in ${text.slice(0, 200)}`);
  assert.ok(
    kept.some((text) => text.includes('\r\nAuthorization: ***\r\n') && text.includes('\r\nCookie: ***\r\n')),
  );
});

test('what is wrong with a credential is told before anything is asked, without what stands there', async (t) => {
  const dir = temporaryFolder(t);
  await crawl(dir, ['init', '.', '--set', 'network.allow=127.0.0.0/8']);
  assert.equal((await crawl(dir, ['inject', 'http://127.0.0.1:9/'])).code, 0);
  assert.equal((await crawl(dir, ['generate'])).code, 0);
  const cases: readonly (readonly [setting: string, env: Record<string, string>, message: RegExp])[] = [
    ['credentials.basic=a.test=env:LOGIN', {}, /credentials\.basic: the variable LOGIN: it is not set/],
    ['credentials.basic=a.test=env:LOGIN', {LOGIN: ''}, /LOGIN: it is empty/],
    ['credentials.basic=a.test=env:LOGIN', {LOGIN: password}, /LOGIN: it is not user:password/],
    ['credentials.basic=a.test=env:LOGIN', {LOGIN: `a:${password}\nX: y`}, /LOGIN: it is not user:password/],
    ['credentials.basic=a.test=file:none.txt', {}, /the file none\.txt: it cannot be read \(ENOENT\)/],
    ['credentials.headers=a.test=env:H', {H: password}, /H: it holds a line that is not `Name: value`/],
    ['credentials.headers=a.test=env:H', {H: `Host: ${password}`}, /the header Host is the program’s own/],
    ['credentials.headers=a.test=env:H', {H: `X: ${password}\nx: 2`}, /x is given twice/],
    ['credentials.proxy=p.test:3128=env:P', {P: password}, /credentials\.proxy: the variable P: it is not/],
    [`credentials.basic=a.test=me:${password}`, {}, /neither env:NAME nor file:PATH/],
    [`credentials.basic=me:${password}@a.test=env:X`, {}, /a key is neither a host/],
    [`credentials.proxy=me:${password}@a.test=env:X`, {}, /a key is not host:port of a proxy/],
    [`network.proxy=http://me:${password}@p.test:3128`, {}, /belong into credentials\.proxy/],
    [`network.proxy_rules=*=http://me:${password}@p.test`, {}, /the proxy of \* is neither direct nor/],
    ['network.proxy=socks5://p.test:1080', {}, /not http:\/\/host:port or https/],
    ['network.proxy_rules=a b=direct', {}, /a b is no host/],
    ['network.unverified_hosts=*', {}, /\* is no host name/],
  ];
  for (const [setting, env, message] of cases) {
    const {code, stdout, stderr} = await crawl(dir, ['fetch', '--set', setting], {env});
    assert.equal(code, 2, `${setting}: ${stderr}`);
    assert.match(stderr, message, setting);
    assert.ok(!`${stdout}${stderr}`.includes(password), `${setting}: ${stderr}`);
  }
});

test('without a contact nothing leaves this machine, through a proxy neither', async (t) => {
  const dir = temporaryFolder(t);
  await crawl(dir, ['init', '.']);
  const seeds = ['http://far.test/', 'http://127.0.0.1:9/'];
  assert.equal((await crawl(dir, ['inject', ...seeds])).code, 0);
  assert.equal((await crawl(dir, ['generate'])).code, 0);
  const here = ['--set', 'network.connect_to=*:80=127.0.0.1:9', '--set', 'network.allow=127.0.0.0/8'];
  const cases: readonly (readonly [string, RegExp | undefined])[] = [
    ['network.proxy=http://127.0.0.1:9', /agent\.contact is not set, and far\.test is not this machine/],
    ['network.proxy_rules=127.0.0.1=http://proxy.test:3128', /127\.0\.0\.1 is not this machine/],
    ['network.proxy_rules=far.test=direct', undefined],
  ];
  for (const [setting, message] of cases) {
    const {code, stderr} = await crawl(dir, ['fetch', ...here, '--set', setting]);
    assert.equal(code, message === undefined ? 0 : 2, `${setting}: ${stderr}`);
    if (message !== undefined) assert.match(stderr, message);
  }
});
