import assert from 'node:assert/strict';
import test from 'node:test';
import {gzipSync} from 'node:zlib';
import {probePath, soft404Signature} from '../../lib/fetcher/soft-404.ts';
import {digest} from '../../lib/http/digests.ts';
import {PayloadRepeats, RepeatFilter} from '../../lib/store/payload-repeats.ts';
import {configOf, type SimWeb, simulate, VirtualClock} from '../support/fetch-sim.ts';

const urls = (host: string, count: number) =>
  Array.from({length: count}, (_, index) => `http://${host}/page-${index}`);
const config = configOf({'fetch.soft_404': 'true'});
const lost = (path: string, n: number) =>
  `<html><title>Sorry</title><p>We could not find ${path} anywhere. Request ${n}</html>`;
const isProbe = (url: string) => /\/[0-9a-f]{24}$/.test(url);

/** soft.test says 200 to everything it does not know; hard.test says 404. */
const web: SimWeb = (url, _times, start) => {
  const {hostname, pathname} = new URL(url);
  if (pathname === '/robots.txt') return undefined;
  if (hostname === 'soft.test' && (isProbe(url) || /[13]$/.test(pathname)))
    return {status: 200, body: lost(pathname, start)};
  if (hostname === 'hard.test' && isProbe(url)) return {status: 404, body: lost(pathname, start)};
  return {
    status: 200,
    body: `<p>A page of its own, about ${pathname.replace(/\d/g, (n) => 'abcdefghij'[Number(n)]!)}</p>`,
  };
};

test('signatures leave out markup, digits and the path; too little text has none', () => {
  const of = (body: string, path: string) =>
    soft404Signature(Buffer.from(body), null, `http://a.test${path}`);
  const one = of(lost('/a/missing.html', 17), '/a/missing.html');
  assert.equal(of(lost('/other', 99_000), '/other'), one);
  assert.notEqual(of('<p>A page about something else altogether</p>', '/other'), one);
  assert.equal(of('<p>gone</p>', '/other'), null);
  assert.equal(
    soft404Signature(gzipSync(lost('/x/y', 1)), 'gzip', 'http://a.test/x/y'),
    of(lost('/x/y', 1), '/x/y'),
  );
  assert.equal(of('<'.repeat(100_000), '/other'), null);
});

test('a host is asked for a random path first; pages that say the same are marked, a host that says 404 marks nothing', async () => {
  const sim = await simulate({list: [...urls('soft.test', 5), ...urls('hard.test', 5)], web, config});
  const marked = sim.rows.filter(({soft_404}) => soft_404 !== null).map(({url}) => url);
  assert.deepEqual(marked.sort(), ['http://soft.test/page-1', 'http://soft.test/page-3']);
  const probes = sim.rows.filter(({kind}) => kind === 'probe');
  assert.deepEqual(probes.map(({url, status}) => `${new URL(url).hostname} ${status}`).sort(), [
    'hard.test gone',
    'soft.test success',
  ]);
  for (const host of ['soft.test', 'hard.test']) {
    const own = sim.of(host);
    assert.ok(isProbe(own[1]!.url), 'after robots.txt, before the pages');
    own.slice(1).forEach(({start}, index) => {
      assert.ok(start - own[index]!.end >= 1000, 'with the delay of the host');
    });
  }
  assert.equal(sim.end.counters.pages_fetched_total, 10, 'probes are no pages');
  assert.equal(sim.rows.filter(({kind}) => kind === 'page').length, 10);
});

test('off by default; forbidden by robots.txt it is not asked; asked again after a week only', async () => {
  const off = await simulate({list: urls('soft.test', 2), web});
  assert.equal(off.requests.filter(({url}) => isProbe(url)).length, 0);
  const path = probePath(off.rows[0]!.segment, 'http://soft.test');
  const denied = await simulate({
    list: urls('soft.test', 2),
    config,
    web: (url, times, start) =>
      url.endsWith('robots.txt')
        ? {status: 200, body: `User-agent: *\nDisallow: ${path}`}
        : web(url, times, start),
  });
  assert.equal(denied.requests.filter(({url}) => isProbe(url)).length, 0);
  assert.equal(denied.rows.filter(({kind}) => kind === 'page').length, 2);
  assert.equal(
    denied.fetcher.work.hosts.find('soft.test')!.soft404,
    null,
    'nothing is stored of what was not asked',
  );
  for (const [days, probes] of [
    [6, 0],
    [8, 1],
  ] as const) {
    const clock = new VirtualClock();
    const signature = soft404Signature(Buffer.from(lost('/x/y', 1)), null, 'http://soft.test/x/y');
    const sim = await simulate({
      clock,
      list: urls('soft.test', 3),
      web,
      config,
      prepare: ({work: {hosts}}) => {
        hosts.find('soft.test')!.soft404 = {askedAt: clock.time - days * 86_400_000, signature};
      },
    });
    assert.equal(sim.requests.filter(({url}) => isProbe(url)).length, probes, `${days} days`);
    assert.deepEqual(
      sim.rows.filter(({soft_404}) => soft_404 === 'probe').map(({url}) => url),
      ['http://soft.test/page-1'],
    );
  }
});

test('taken up again, a fetch knows what the random path brought, and asks for none again', async () => {
  const whole = await simulate({list: urls('soft.test', 5), web, config});
  const rows = whole.rows.filter(({url}) => !/page-[34]$/.test(url));
  const again = await simulate({
    list: urls('soft.test', 5),
    web,
    config,
    resume: {rows, payloads: whole.payloads, proven: true},
  });
  assert.deepEqual(
    again.requests.map(({url}) => url.slice(-6)),
    ['page-3', 'page-4'],
  );
  assert.equal(again.rows.find(({url}) => url.endsWith('3'))?.soft_404, 'probe');
});

test('one payload for ten URLs of a host is repeated, for nine or for several hosts it is not', () => {
  const row = (host: bigint, sha: string, facts: object = {}) => ({
    kind: 'page' as const,
    host_key: host,
    status: 'success' as const,
    content_sha256: sha,
    content_length: 5,
    ...facts,
  });
  const repeats = new PayloadRepeats();
  for (let n = 0; n < 9; n++) {
    repeats.count(row(1n, 'nine'));
    repeats.count(row(BigInt(n), 'spread'));
    repeats.count(row(1n, 'failed', {status: 'gone'}));
    repeats.count(row(1n, 'empty', {content_length: 0}));
  }
  for (let n = 0; n < 10; n++) repeats.count(row(1n, 'ten'));
  const marks = (facts: ReturnType<typeof row>, soft_404: 'probe' | 'repeated' | null = null) =>
    repeats.marks({...facts, soft_404});
  assert.ok(marks(row(1n, 'ten')));
  assert.ok(!marks(row(1n, 'ten'), 'probe'), 'what is marked stays as it is');
  for (const sha of ['nine', 'spread', 'failed', 'empty', 'other']) assert.ok(!marks(row(1n, sha)), sha);
});

test('the filter before it lets pass all that is repeated, and hardly anything else', () => {
  const row = (n: number) => ({
    kind: 'page' as const,
    host_key: 1n,
    status: 'success' as const,
    content_sha256: digest(Buffer.from(`page ${n}`)).sha256,
    content_length: 5,
  });
  const filter = new RepeatFilter();
  for (let n = 0; n < 20_000; n++) filter.add(row(n));
  for (let n = 0; n < 100; n++) for (let again = 0; again < 9; again++) filter.add(row(n));
  filter.add({...row(300), status: 'gone'});
  assert.deepEqual(
    Array.from({length: 1000}, (_, n) => filter.mayBeRepeated(row(n))),
    Array.from({length: 1000}, (_, n) => n < 100),
  );
});
