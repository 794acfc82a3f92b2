import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type {Capture} from '../../lib/schema/fetch.ts';
import {type SimAnswer, type SimRequest, type SimWeb, simulate, VirtualClock} from '../support/fetch-sim.ts';

/** What a path of a random web answers, by its letter. */
const answers: Readonly<Record<string, (host: string, path: number) => SimAnswer>> = {
  o: (_host, path) => ({status: 200, body: `page ${path}`, tookMs: 10 + path * 7}),
  n: () => ({status: 404, tookMs: 30}),
  r: (_host, path) => ({status: 302, headers: [['location', `/${path + 1}`]]}),
  h: (_host, path) => ({status: 301, headers: [['location', `/hop/${path % 3}`]]}),
  w: (host, path) => ({status: 301, headers: [['location', `http://www.${host}/${path}`]]}),
  e: () => ({status: 500, tookMs: 50}),
  t: () => ({reason: 'timeout', tookMs: 60_000}),
  d: () => ({status: 200, body: 'forbidden'}),
};

interface Host {
  readonly paths: readonly string[];
  readonly robots: 'none' | 'rules' | 'delay' | 'moved' | 'down';
}

const host: fc.Arbitrary<Host> = fc.record({
  paths: fc.array(fc.constantFrom('o', 'o', 'o', 'n', 'r', 'h', 'w', 'e', 'd', 't'), {
    minLength: 1,
    maxLength: 8,
  }),
  robots: fc.constantFrom('none', 'rules', 'rules', 'delay', 'moved', 'down'),
});
const hosts = fc.array(host, {minLength: 1, maxLength: 5});

function webOf(web: readonly Host[]): {list: string[]; answer: SimWeb} {
  const list = web.flatMap(({paths}, index) => paths.map((_, path) => `http://h${index}.t${index}/${path}`));
  const robotsText = (index: number, delay: number) => {
    const denied = web[index]!.paths.flatMap((letter, path) =>
      letter === 'd' ? [`Disallow: /${path}$`] : [],
    );
    return `User-agent: *\n${denied.join('\n')}\n${delay > 0 ? `Crawl-delay: ${delay}\n` : ''}`;
  };
  const answer: SimWeb = (url) => {
    const {hostname, pathname} = new URL(url);
    const index = Number(/t(\d+)$/.exec(hostname)![1]);
    const {paths, robots} = web[index]!;
    if (pathname === '/robots.txt') {
      if (hostname.startsWith('www.') || robots === 'none') return {status: 404};
      if (robots === 'down') return {status: 503};
      if (robots === 'moved') return {status: 301, headers: [['location', '/rules.txt']]};
      return {status: 200, body: robotsText(index, robots === 'delay' ? 4 : 0)};
    }
    if (pathname === '/rules.txt') return {status: 200, body: robotsText(index, 0)};
    const path = Number(pathname.slice(1));
    const letter = hostname.startsWith('www.') ? 'o' : paths[path];
    return letter === undefined ? {status: 200, body: 'a target'} : answers[letter]!(hostname, path);
  };
  return {list, answer};
}

const hostOf = ({url}: SimRequest) => new URL(url).hostname;

function checkPolite(web: readonly Host[], requests: readonly SimRequest[]): void {
  const last = new Map<string, number>();
  for (const request of [...requests].sort((a, b) => a.start - b.start)) {
    const name = hostOf(request);
    // Before a robots.txt its Crawl-delay is not known, or not any more after a crash.
    const slow =
      web[Number(/t(\d+)$/.exec(name)![1])]!.robots === 'delay' &&
      !name.startsWith('www.') &&
      !request.url.endsWith('.txt');
    const least = slow ? 4000 : 1000;
    const before = last.get(name);
    if (before !== undefined)
      assert.ok(request.start - before >= least, `${request.url}: ${request.start - before} ms`);
    last.set(name, request.end);
  }
}

function checkObedient(web: readonly Host[], requests: readonly SimRequest[]): void {
  for (const {url} of requests) {
    const {hostname, pathname} = new URL(url);
    if (hostname.startsWith('www.') || pathname.endsWith('.txt')) continue;
    const {paths, robots} = web[Number(/t(\d+)$/.exec(hostname)![1])]!;
    assert.notEqual(robots, 'down', `${url} although robots.txt cannot be read`);
    if (robots !== 'none') assert.notEqual(paths[Number(pathname.slice(1))], 'd', `${url} is forbidden`);
  }
}

/** What does not depend on when a request was sent. */
const told = (rows: readonly Capture[]) =>
  rows
    .filter(({kind}) => kind !== 'robots')
    .map((row) =>
      [
        row.url,
        row.kind,
        row.status,
        row.reason,
        row.fetch_status,
        row.content_digest,
        row.fetch_redirect,
      ].join(' '),
    )
    .sort();

test('each URL ends as one row of kind page; no host is asked within its delay, nothing forbidden is asked', async () => {
  await fc.assert(
    fc.asyncProperty(hosts, async (web) => {
      const {list, answer} = webOf(web);
      const sim = await simulate({list, web: answer});
      assert.deepEqual(
        sim.rows
          .filter(({kind}) => kind === 'page')
          .map(({url}) => url)
          .sort(),
        [...list].sort(),
      );
      const urls = sim.requests.map(({url}) => url);
      assert.equal(new Set(urls).size, urls.length, 'nothing is asked twice');
      assert.equal(
        sim.rows.filter(({delay_ms}) => delay_ms !== null).length,
        urls.length,
        'each request has a row',
      );
      assert.equal(new Set(sim.rows.map((row) => row.capture_id)).size, sim.rows.length);
      checkPolite(web, sim.requests);
      checkObedient(web, sim.requests);
    }),
    {numRuns: 60},
  );
});

test('cut at any moment and taken up again, a fetch tells the same and is as polite', async () => {
  const cut = fc.record({web: hosts, at: fc.nat(25_000), crash: fc.boolean(), later: fc.nat(5000)});
  await fc.assert(
    fc.asyncProperty(cut, async ({web, at, crash, later}) => {
      // Whether a host that fails rests for good depends on the order of its failures, which a cut may change.
      const steady = web.map((one) => ({
        ...one,
        paths: one.paths.map((letter) => (letter === 'e' || letter === 't' ? 'o' : letter)),
      }));
      const {list, answer} = webOf(steady);
      const whole = await simulate({list, web: answer});
      const clock = new VirtualClock();
      const stop = new AbortController();
      const cutAt = clock.time + at;
      const first = await simulate({
        list,
        clock,
        web: (url, times, start) => {
          if (start >= cutAt) stop.abort(new Error('cut'));
          return answer(url, times, start);
        },
        settings: {
          effects: {
            now: clock.now,
            monotonic: clock.now,
            sleep: (ms, signal) => clock.sleep(ms, signal),
            log: () => undefined,
            signal: stop.signal,
          },
        },
      });
      if (first.end.stopped === null) return;
      // A crash loses the rows of the last second.
      const kept = crash
        ? first.rows.filter((row) => row.fetch_time.getTime() + (row.total_ms ?? 0) < clock.time - 1000)
        : first.rows;
      clock.time += later;
      const second = await simulate({
        list,
        clock,
        web: answer,
        resume: {rows: kept, payloads: first.payloads, proven: !crash},
      });
      assert.deepEqual(told([...kept, ...second.rows]), told(whole.rows));
      const requests = [...first.requests, ...second.requests];
      checkPolite(steady, requests);
      checkObedient(steady, requests);
      const stored = new Set(kept.filter(({delay_ms}) => delay_ms !== null).map(({url}) => url));
      for (const {url} of second.requests)
        if (!url.endsWith('.txt')) assert.ok(!stored.has(url), `${url} is stored and asked again`);
      const counted = (sim: typeof whole) => sim.end.counters.pages_fetched_total ?? 0;
      assert.equal(counted(second), counted(whole), 'the report is of the whole fetch');
    }),
    {numRuns: 60},
  );
});
