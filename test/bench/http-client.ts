/**
 * CPU a request: exchange() with everything recorded, against undici's bare dispatch, in turns within one run.
 * Server: node:http in a process of its own, 13 KB bodies, keep-alive.
 *
 *     node --import tsx test/bench/http-client.ts [requests a round]
 */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {Client} from 'undici';
import {loopbackClient} from '../support/loopback-client.ts';

const perRound = Number(process.argv[2] ?? 4_000);
const rounds = 5;
const lanes = 64;

const serverSource = `
const body = require('node:crypto').randomBytes(13000);
require('node:http').createServer((request, response) => {
  response.writeHead(200, {'Content-Type': 'text/html; charset=utf-8', 'Content-Length': body.length,
    'Last-Modified': 'Tue, 09 Nov 2010 14:49:00 GMT', 'ETag': '"abc-123"', 'Server': 'bench', 'Vary': 'Accept-Encoding',
    'Cache-Control': 'max-age=600', 'X-Frame-Options': 'SAMEORIGIN'});
  response.end(body);
}).listen(0, '127.0.0.1', function () { process.stdout.write(String(this.address().port)); });
`;

async function startServer(): Promise<{child: ChildProcess; port: number}> {
  const child = spawn(process.execPath, ['-e', serverSource], {stdio: ['ignore', 'pipe', 'inherit']});
  const [data] = (await once(child.stdout!, 'data')) as [Buffer];
  return {child, port: Number(data.toString())};
}

const headers: [string, string][] = [
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Accept-Language', 'en,*;q=0.5'],
  ['Accept-Encoding', 'gzip'],
];

/** Runs `one` perRound times on `lanes` lanes; milliseconds of this process's CPU a request. */
async function measure(one: (lane: number, n: number) => Promise<number>): Promise<number> {
  let next = 0;
  let bytes = 0;
  const before = process.cpuUsage();
  await Promise.all(
    Array.from({length: lanes}, async (_, lane) => {
      while (next < perRound) {
        next += 1;
        const size = await one(lane, next);
        bytes += size;
      }
    }),
  );
  const {user, system} = process.cpuUsage(before);
  if (bytes !== perRound * 13_000) throw new Error(`bodies are not whole: ${bytes}`);
  return (user + system) / 1000 / perRound;
}

const {child, port} = await startServer();
const origin = `http://127.0.0.1:${port}`;
const client = loopbackClient();
const bare = Array.from({length: lanes}, () => new Client(origin));

const variants: Readonly<Record<string, (lane: number, n: number) => Promise<number>>> = {
  'undici dispatch': (lane, n) =>
    new Promise((resolve, reject) => {
      let bytes = 0;
      bare[lane]!.dispatch(
        {method: 'GET', path: `/page/${n}`, headers: headers.flat()},
        {
          onConnect: () => undefined,
          onHeaders: () => true,
          onData: (chunk) => {
            bytes += chunk.length;
            return true;
          },
          onComplete: () => resolve(bytes),
          onError: reject,
        },
      );
    }),
  exchange: async (_, n) => {
    const {reason, detail, body} = await client.exchange({
      url: `${origin}/page/${n}`,
      headers,
      maxBody: 10_485_760,
    });
    if (reason !== null) throw new Error(`${reason}: ${detail}`);
    return body?.length ?? 0;
  },
};

const results = new Map(Object.keys(variants).map((name) => [name, [] as number[]]));
for (let round = 0; round <= rounds; round += 1) {
  for (const [name, one] of Object.entries(variants)) {
    const ms = await measure(one);
    // The first round warms up.
    if (round > 0) results.get(name)?.push(ms);
  }
}
for (const [name, all] of results) {
  const sorted = all.toSorted((a, b) => a - b);
  console.log(
    `${name.padEnd(16)} ${sorted[Math.floor(sorted.length / 2)]?.toFixed(3)} ms CPU a request (${sorted.map((ms) => ms.toFixed(3)).join(' ')})`,
  );
}
await client.close();
await Promise.all(bare.map((one) => one.destroy()));
child.kill();
