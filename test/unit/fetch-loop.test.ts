import assert from 'node:assert/strict';
import test from 'node:test';
import {hostKey} from '../../lib/url/keys.ts';
import {configOf, noRule, type SimAnswer, type SimWeb, simulate, VirtualClock} from '../support/fetch-sim.ts';

const minute = 60_000;
const ok: SimAnswer = {status: 200, body: 'a page'};
const site =
  (pages: Readonly<Record<string, SimAnswer>>): SimWeb =>
  (url) =>
    pages[url] ?? (url.endsWith('/robots.txt') ? undefined : ok);
const urls = (host: string, count: number) =>
  Array.from({length: count}, (_, index) => `http://${host}/${index}`);
const gaps = (requests: readonly {start: number; end: number}[]) =>
  requests.slice(1).map((request, index) => request.start - requests[index]!.end);

test('robots.txt is asked once an origin, before all else, and obeyed', async () => {
  const robots = {status: 200, body: 'User-agent: crawl\nDisallow: /1\nUser-agent: *\nDisallow: /\n'};
  const sim = await simulate({list: urls('a.test', 3), web: site({'http://a.test/robots.txt': robots})});
  assert.deepEqual(
    sim.requests.map(({url}) => url),
    ['http://a.test/robots.txt', 'http://a.test/0', 'http://a.test/2'],
  );
  assert.deepEqual(sim.outcomes(), {
    'http://a.test/0': 'success - 200',
    'http://a.test/1': 'gone robots_denied -',
    'http://a.test/2': 'success - 200',
  });
  assert.equal(sim.rows.find((row) => row.reason === 'robots_denied')?.reason_detail, 'line 2: Disallow: /1');
});

test('two origins of a host share its turns, and each has its own robots.txt', async () => {
  const sim = await simulate({
    list: ['http://a.test/1', 'https://a.test/2', 'http://a.test:8080/3'],
    web: site({'https://a.test/robots.txt': {status: 200, body: 'User-agent: *\nDisallow: /'}}),
  });
  assert.equal(sim.requests.filter(({url}) => url.endsWith('robots.txt')).length, 3);
  assert.equal(sim.outcomes()['https://a.test/2'], 'gone robots_denied -');
  for (const gap of gaps(sim.of('a.test'))) assert.ok(gap >= 1000);
});

test('robots.txt that cannot be read: nothing is asked, and the rows say why', async () => {
  const cases: [SimAnswer, string][] = [
    [{status: 500}, 'retry robots_unreachable -'],
    [{status: 503}, 'retry robots_unreachable -'],
    [{status: 429}, 'retry robots_unreachable -'],
    [{reason: 'timeout'}, 'retry robots_unreachable -'],
    [{reason: 'dns'}, 'retry dns -'],
    [{reason: 'connect_timeout'}, 'retry connect_timeout -'],
    [{reason: 'tls'}, 'retry tls -'],
    [{reason: 'address_refused'}, 'gone address_refused -'],
    [{status: 403}, 'success - 200'],
    [{status: 404}, 'success - 200'],
    [{status: 200, body: '<html>'}, 'success - 200'],
  ];
  for (const [answer, expected] of cases) {
    const sim = await simulate({list: urls('a.test', 2), web: site({'http://a.test/robots.txt': answer})});
    assert.deepEqual(Object.values(sim.outcomes()), [expected, expected], JSON.stringify(answer));
    assert.equal(sim.requests.length, expected.startsWith('success') ? 3 : 1);
    assert.ok(sim.durationMs < 5000, 'rows are not kept waiting for the rest of the host');
  }
});

test('robots.txt behind redirects, over another host too; five at most', async () => {
  const hop = (location: string): SimAnswer => ({status: 301, headers: [['Location', location]]});
  const web = site({
    'http://a.test/robots.txt': hop('http://www.a.test/robots.txt'),
    'http://www.a.test/robots.txt': hop('https://b.test/rules'),
    'https://b.test/rules': {status: 200, body: 'User-agent: *\nDisallow: /1'},
  });
  const sim = await simulate({list: urls('a.test', 2), web});
  assert.deepEqual(sim.outcomes(), {
    'http://a.test/0': 'success - 200',
    'http://a.test/1': 'gone robots_denied -',
  });
  assert.deepEqual(Object.values(sim.outcomes('robots')), [
    'redir_perm redirect 301',
    'redir_perm redirect 301',
    'success - 200',
  ]);
  const endless: SimWeb = (url, times) =>
    url.includes('robots.txt') ? hop(`/robots.txt?${url.length + times}`) : ok;
  const six = await simulate({list: urls('a.test', 1), web: endless});
  assert.equal(six.requests.filter(({url}) => url.includes('robots.txt')).length, 6);
  assert.deepEqual(six.outcomes(), {'http://a.test/0': 'success - 200'});
  const inside = await simulate({
    list: urls('a.test', 2),
    web: site({
      'http://a.test/robots.txt': hop('/r.txt'),
      'http://a.test/r.txt': {status: 200, body: 'User-agent: *\nDisallow: /0'},
    }),
  });
  assert.equal(inside.outcomes()['http://a.test/0'], 'gone robots_denied -');
});

test('hosts whose robots.txt lead to one another: none waits for ever, and each keeps its delay', async () => {
  const ring = ['a.test', 'b.test', 'c.test'];
  const next = (host: string) => ring[(ring.indexOf(host) + 1) % ring.length]!;
  for (const most of ['1', '2'])
    for (const found of [false, true]) {
      const sim = await simulate({
        config: configOf({'politeness.max_per_host': most}),
        list: ring.flatMap((host) => urls(host, 3)),
        web: (url, times) => {
          const {hostname, pathname} = new URL(url);
          if (pathname === '/0') return {status: 302, headers: [['Location', '/hop']]};
          if (!pathname.startsWith('/robots')) return ok;
          if (found && pathname === '/robots2.txt') return {status: 200, body: 'User-agent: *\nDisallow: /1'};
          const name = found && times > 0 ? 'robots2.txt' : 'robots.txt';
          return {status: 301, headers: [['Location', `http://${next(hostname)}/${name}`]]};
        },
      });
      for (const host of ring) {
        assert.equal(sim.outcomes()[`http://${host}/2`], 'success - 200');
        assert.equal(sim.outcomes('hop')[`http://${host}/hop`], 'success - 200');
        if (found) assert.equal(sim.outcomes()[`http://${host}/1`], 'gone robots_denied -');
        if (most === '1') for (const gap of gaps(sim.of(host))) assert.ok(gap >= 1000);
      }
    }
});

test('Crawl-delay, slow answers and Retry-After lengthen the pause; the term is stored', async () => {
  const crawlDelay = {status: 200, body: 'User-agent: *\nCrawl-delay: 7'};
  const sim = await simulate({
    list: [...urls('a.test', 3), ...urls('slow.test', 3)],
    web: (url) => {
      if (url === 'http://a.test/robots.txt') return crawlDelay;
      if (url.endsWith('robots.txt')) return undefined;
      return url.includes('slow') ? {...ok, tookMs: 2000} : ok;
    },
  });
  for (const gap of gaps(sim.of('a.test'))) assert.ok(gap >= 7000 && gap < 7100, `${gap}`);
  assert.deepEqual(gaps(sim.of('slow.test')).slice(1), [10_000, 10_000]);
  const slow = sim.rows.filter((row) => row.url_host_name === 'slow.test');
  assert.deepEqual(
    slow.map((row) => row.delay_ms),
    [0, 1000, 10_000, 10_000],
  );
});

test('of several Retry-After headers the longest wait holds; what is none does not count', async () => {
  const waits = ['120', '900', 'soon', 'Fri, 31 Dec 1999 23:59:59 GMT'];
  const headers = waits.map((wait) => ['Retry-After', wait] as const);
  const sim = await simulate({
    list: urls('a.test', 2),
    web: (url, times) => (url === 'http://a.test/0' && times === 0 ? {status: 503, headers} : ok),
  });
  assert.equal(sim.rows.find(({url}) => url === 'http://a.test/0')!.retry_after_s, 900);
  const [, first, second] = sim.of('a.test');
  assert.equal(second!.start - first!.end, 900_000);
});

test('a Crawl-delay above the limit gives one URL a fetch', async () => {
  const sim = await simulate({
    list: urls('a.test', 3),
    web: site({'http://a.test/robots.txt': {status: 200, body: 'User-agent: *\nCrawl-delay: 7200'}}),
  });
  assert.deepEqual(Object.values(sim.outcomes()), [
    'success - 200',
    'skipped host_resting -',
    'skipped host_resting -',
  ]);
  const host = sim.fetcher.work.hosts.find('a.test')!;
  assert.equal(host.politeness.nextAllowed - host.politeness.lastEnd!, 7_200_000);
});

test('429 rests the host for minutes, doubling; other hosts go on; then the host rests for good', async () => {
  const sim = await simulate({
    list: [...urls('busy.test', 6), ...urls('b.test', 10)],
    web: (url) => (url.endsWith('robots.txt') ? undefined : url.includes('busy') ? {status: 429} : ok),
  });
  assert.deepEqual(
    gaps(sim.of('busy.test'))
      .slice(1)
      .map((gap) => gap / minute),
    [5, 10, 20],
  );
  const last = sim.requests.filter(({url}) => url.includes('b.test')).at(-1)!;
  assert.ok(last.end - sim.requests[0]!.start < minute / 4, 'b.test is not held back');
  const values = Object.values(sim.outcomes()).slice(0, 16);
  assert.equal(values.filter((value) => value === 'retry http_429 429').length, 4);
  assert.equal(values.filter((value) => value === 'skipped host_resting -').length, 2);
});

test('a failing host rests longer and longer, and after five failures for the rest of the fetch', async () => {
  let count = 0;
  const sim = await simulate({
    list: [...urls('a.test', 8), ...urls('b.test', 520)],
    web: (url) =>
      url.endsWith('robots.txt') ? undefined : url.includes('/a.') && count++ >= 1 ? {reason: 'connect'} : ok,
  });
  const values = Object.entries(sim.outcomes())
    .filter(([url]) => url.includes('/a.'))
    .map(([, value]) => value);
  assert.deepEqual(
    values.map((value) => value.split(' ')[1]),
    ['-', 'connect', 'connect', 'connect', 'connect', 'connect', 'host_resting', 'host_resting'],
  );
  assert.deepEqual(
    gaps(sim.of('a.test'))
      .slice(2)
      .map((gap) => Math.round(gap / 30_000)),
    [1, 2, 4, 8],
  );
});

test('redirects: hops in their own host’s queue, loops, limits, scope, targets outside', async () => {
  const to = (location: string): SimAnswer => ({status: 302, headers: [['location', location]]});
  const web = site({
    'http://a.test/0': to('http://www.a.test/0?x#frag'),
    'http://a.test/1': to('/1'),
    'http://a.test/2': to('/chain/1'),
    'http://a.test/3': to('http://other.test/'),
    'http://a.test/4': to('ftp://a.test/'),
    'http://a.test/5': to('/6'),
    'http://a.test/7': {status: 301},
    'http://a.test/8': to('http://['),
    'http://a.test/9': to('/denied'),
    'http://a.test/robots.txt': {status: 200, body: 'User-agent: *\nDisallow: /denied'},
  });
  const chain: SimWeb = (url, times, start) => {
    const match = /chain\/(\d+)/.exec(url);
    return match ? to(`/chain/${Number(match[1]) + 1}`) : web(url, times, start);
  };
  const sim = await simulate({list: urls('a.test', 10), web: chain});
  const detail = (url: string) => {
    const row = sim.rows.find((found) => found.url === `http://a.test/${url}` && found.kind !== 'robots')!;
    return `${row.kind}${row.hop} ${row.status} ${row.reason} ${row.fetch_redirect?.replace('http://a.test', '')}`;
  };
  assert.equal(detail('0'), 'page0 redir_temp redirect http://www.a.test/0?x');
  assert.equal(detail('1'), 'page0 gone redirect_loop /1');
  assert.equal(detail('3'), 'page0 redir_temp redirect http://other.test/');
  assert.equal(detail('4'), 'page0 redir_temp redirect_out_of_scope ftp://a.test/');
  assert.equal(detail('5'), 'page0 redir_temp redirect /6');
  assert.equal(detail('7'), 'page0 gone redirect_malformed undefined');
  assert.equal(detail('8'), 'page0 gone redirect_malformed undefined');
  assert.equal(detail('chain/1'), 'hop1 redir_temp redirect /chain/2');
  assert.equal(detail('chain/5'), 'hop5 gone redirect_limit /chain/6');
  assert.equal(detail('denied'), 'hop1 gone robots_denied undefined');
  const hops = sim.rows.filter((row) => row.kind === 'hop');
  assert.equal(hops.length, 7, 'www.a.test/0, five of the chain, denied');
  assert.equal(hops.find((row) => row.url.includes('www'))?.origin_url, 'http://a.test/0');
  assert.equal(sim.of('other.test').length, 0, 'not a host of this fetch');
  assert.equal(
    sim.requests.filter(({url}) => url === 'http://a.test/6').length,
    1,
    'listed: asked once, as a page',
  );
  assert.equal(sim.of('www.a.test')[0]!.url, 'http://www.a.test/robots.txt');
  assert.equal(sim.rows.filter((row) => row.kind === 'page').length, 10);
});

test('two redirects to one target: it is asked once', async () => {
  const to: SimAnswer = {status: 301, headers: [['location', '/target']]};
  const sim = await simulate({
    list: urls('a.test', 3),
    web: site(Object.fromEntries(urls('a.test', 3).map((url) => [url, to]))),
  });
  assert.equal(sim.requests.filter(({url}) => url.endsWith('/target')).length, 1);
});

test('a URL that is listed twice is asked once', async () => {
  const sim = await simulate({list: ['http://a.test/1', 'http://a.test/1'], web: site({})});
  assert.deepEqual(
    sim.rows
      .filter((row) => row.kind === 'page')
      .map((row) => row.reason)
      .sort(),
    ['hop_target', null],
  );
});

test('conditions are sent where the payload is held, and 304 refers to it', async () => {
  const list = [
    {url: 'http://a.test/1', etag: '"x"', last_modified: 'Mon', content_digest: 'D', content_segment: 'S'},
  ];
  const web = site({'http://a.test/1': {status: 304}});
  const sim = await simulate({list, web});
  assert.deepEqual(sim.requests[1]!.headers.slice(3), [
    ['If-None-Match', '"x"'],
    ['If-Modified-Since', 'Mon'],
  ]);
  const row = sim.rows[1]!;
  assert.deepEqual([row.status, row.content_digest, row.content_segment], ['notmodified', 'D', 'S']);
  const off = await simulate({list, web, config: configOf({'fetch.conditional': 'false'})});
  assert.equal(off.requests[1]!.headers.length, 3);
  assert.equal(off.outcomes()['http://a.test/1'], 'gone http_other 304');
});

test('payloads: errors are kept or not, refused types are not read', async () => {
  const web = site({
    'http://a.test/0': {status: 404, body: 'sorry'},
    'http://a.test/1': {status: 200, body: 'film', headers: [['Content-Type', 'Video/mp4; x=1']]},
    'http://a.test/2': {status: 200, body: ''},
  });
  const config = configOf({'scope.reject_types': 'video/*', 'fetch.store_errors': 'false'});
  const sim = await simulate({list: urls('a.test', 3), web, config});
  assert.deepEqual(Object.values(sim.outcomes()), [
    'gone http_404 404',
    'gone content_type 200',
    'success - 200',
  ]);
  assert.deepEqual(
    [...sim.payloads.values()].map((body) => Buffer.from(body).toString()),
    ['not here'],
    'the robots.txt alone',
  );
  const kept = await simulate({list: urls('a.test', 3), web});
  assert.deepEqual(
    [...kept.payloads.values()].map((body) => Buffer.from(body).toString()),
    ['not here', 'sorry', 'film'],
  );
  const empty = kept.rows.find((row) => row.url.endsWith('/2'))!;
  assert.deepEqual([empty.content_length, empty.content_segment], [0, null]);
});

test('the window: no request after it, what is left is skipped, and the fetch ends at once', async () => {
  const sim = await simulate({
    list: [...urls('a.test', 20), ...urls('busy.test', 3)],
    web: (url) => (url.endsWith('robots.txt') ? undefined : url.includes('busy') ? {status: 503} : ok),
    settings: {windowMs: 10_000},
  });
  const begin = sim.requests[0]!.start;
  for (const request of sim.requests) assert.ok(request.start - begin < 10_000);
  const values = Object.entries(sim.outcomes());
  assert.equal(values.length, 23);
  assert.equal(values.filter(([, value]) => value === 'skipped window -').length, 11);
  assert.deepEqual(
    values
      .filter(([url]) => url.includes('busy'))
      .map(([, value]) => value)
      .sort(),
    ['retry http_503 503', 'skipped host_resting -', 'skipped host_resting -'],
  );
  assert.ok(sim.durationMs <= 10_000);
});

test('a window that no turn falls into is not waited for', async () => {
  const sim = await simulate({
    list: urls('a.test', 2),
    web: site({'http://a.test/robots.txt': {status: 200, body: 'User-agent: *\nCrawl-delay: 100'}}),
    settings: {windowMs: 50_000},
  });
  assert.ok(sim.durationMs < 2000);
  assert.deepEqual(Object.values(sim.outcomes()), ['skipped window -', 'skipped window -']);
});

test('the budget counts successful pages ever, without robots.txt and hops', async () => {
  const sim = await simulate({
    list: urls('a.test', 6),
    web: site({
      'http://a.test/0': {status: 404},
      'http://a.test/1': {status: 301, headers: [['location', '/t']]},
    }),
    config: configOf({'budget.max_pages_per_host': '5'}),
    prepare: (fetcher) => {
      fetcher.work.hosts.find('a.test')!.pages = 3;
    },
  });
  assert.deepEqual(
    Object.values(sim.outcomes()).map((value) => value.split(' ')[1]),
    ['http_404', 'redirect', '-', '-', 'budget', 'budget'],
  );
});

test('blocked by hand, and a delay by hand', async () => {
  const sim = await simulate({
    list: [
      ...urls('bad.test', 2),
      ...urls('slow.test', 3),
      ...urls('quick.test', 3),
      ...urls('wide.test', 6),
    ],
    web: (url) =>
      url.endsWith('robots.txt') ? undefined : {...ok, tookMs: url.includes('wide') ? 3000 : 10},
    config: configOf({'politeness.latency_factor': '0'}),
    prepare: ({work: {hosts}}) => {
      hosts.applyRule(hosts.find('bad.test')!, {...noRule, blocked: true});
      hosts.applyRule(hosts.find('slow.test')!, {...noRule, min_delay_ms: 5000});
      hosts.applyRule(hosts.find('quick.test')!, {...noRule, min_delay_ms: 100});
      hosts.applyRule(hosts.find('wide.test')!, {...noRule, max_connections: 3});
    },
  });
  assert.equal(sim.of('bad.test').length, 0);
  assert.equal(Object.values(sim.outcomes()).filter((value) => value === 'skipped host_blocked -').length, 2);
  assert.ok(Math.min(...gaps(sim.of('slow.test'))) >= 5000);
  assert.ok(Math.max(...gaps(sim.of('quick.test'))) < 200);
  const wide = sim.of('wide.test').slice(1);
  const beside = wide.map(
    (one) => wide.filter((other) => other.start <= one.start && other.end > one.start).length,
  );
  assert.equal(Math.max(...beside), 3);
  for (let i = 1; i < wide.length; i++) assert.ok(wide[i]!.start - wide[i - 1]!.start >= 1000);
});

test('below one second only on loopback', async () => {
  const config = configOf({'politeness.min_delay': '50ms', 'politeness.latency_factor': '0'});
  const run = async (address: string) => {
    const sim = await simulate({list: urls('a.test', 3), web: site({}), config, addresses: () => [address]});
    return Math.max(...gaps(sim.of('a.test')));
  };
  assert.ok((await run('127.0.0.1')) < 100);
  assert.ok((await run('::1')) < 100);
  assert.ok((await run('192.0.2.1')) >= 1000);
});

test('our own outage is charged to nobody: a pause, probes, and all goes on', async () => {
  const list = Array.from({length: 60}, (_, index) => urls(`h${index}.test${index}`, 2)).flat();
  const clock = new VirtualClock();
  const begin = clock.time;
  const down = (time: number) => time - begin > 500 && time - begin < 8 * minute;
  const sim = await simulate({
    clock,
    list,
    web: (url, _times, start) =>
      down(start) ? {reason: 'dns', tookMs: 50} : url.endsWith('robots.txt') ? undefined : ok,
  });
  assert.equal(Object.values(sim.outcomes()).filter((value) => value === 'success - 200').length, 120);
  assert.equal(sim.end.stopped, null);
  const during = sim.requests.filter((request) => down(request.start));
  assert.ok(during.length < 90, `${during.length} requests in the outage`);
  assert.ok(sim.durationMs < 11 * minute, `${sim.durationMs}`);
  for (const host of sim.fetcher.work.hosts) assert.equal(host.politeness.failures, 0);
});

test('an outage that does not end: own_network, after the longest rest', async () => {
  const list = Array.from({length: 30}, (_, index) => `http://h${index}.test${index}/`);
  const sim = await simulate({list, web: () => ({reason: 'connect'})});
  assert.deepEqual([...new Set(Object.values(sim.outcomes()))], ['skipped own_network -']);
  assert.equal(Object.keys(sim.outcomes()).length, 30);
});

test('what is our own for certain is an outage however few the hosts are: nothing is lost, and the delay holds', async () => {
  const list = ['a.test', 'b.test', 'c.test'].flatMap((host) => urls(host, 5));
  const clock = new VirtualClock();
  const begin = clock.time;
  const sim = await simulate({
    clock,
    list,
    web: (url, _times, start) => {
      if (url.endsWith('robots.txt')) return undefined;
      return start - begin < 3 * minute ? {reason: 'own_network', tookMs: 5} : ok;
    },
  });
  assert.deepEqual([...new Set(Object.values(sim.outcomes()))], ['success - 200']);
  for (const host of ['a.test', 'b.test', 'c.test']) {
    assert.ok(Math.min(...gaps(sim.of(host))) >= 1000, host);
    assert.equal(sim.fetcher.work.hosts.find(host)!.politeness.failures, 0);
  }
});

test('a few dead hosts among living ones are charged', async () => {
  const list = Array.from({length: 100}, (_, index) => `http://h${index}.test${index}/`);
  const sim = await simulate({
    list,
    config: configOf({'fetch.max_active': '8'}),
    web: (url) => (/h\d?[37]\./.test(url) ? {reason: 'dns'} : url.endsWith('robots.txt') ? undefined : ok),
  });
  const values = Object.values(sim.outcomes());
  assert.equal(values.filter((value) => value === 'retry dns -').length, 20);
  assert.equal(values.filter((value) => value === 'success - 200').length, 80);
});

test('a fetch of dead hosts only, too few for an outage, ends with their reasons', async () => {
  const sim = await simulate({list: urls('a.test', 3), web: () => ({reason: 'dns'})});
  assert.deepEqual([...new Set(Object.values(sim.outcomes()))], ['retry dns -']);
});

test('state of hosts from an earlier fetch holds', async () => {
  const sim = await simulate({
    list: [...urls('a.test', 1), ...urls('resting.test', 2)],
    web: site({}),
    prepare: ({work: {hosts}}, clock) => {
      const state = {
        host_key: hostKey('a.test'),
        url_host_name: 'a.test',
        next_allowed_time: new Date(clock.time + 20_000),
        last_response_time: new Date(clock.time - 1000),
        delay_ms: 21_000,
        delay_term: 'backoff' as const,
        min_delay_ms: 1000,
        latency_ms: 0,
        crawl_delay_ms: 0,
        retry_after_ms: 0,
        backoff_ms: 21_000,
        failures: 1,
        last_reason: 'connect',
        requests: 7,
        dns_failures: 0,
        updated_segment: '20260101000000',
        soft_404_time: null,
        soft_404_signature: null,
      };
      hosts.restore(state, clock.time);
      const long = {
        ...state,
        host_key: hostKey('resting.test'),
        url_host_name: 'resting.test',
        next_allowed_time: new Date(clock.time + 3 * 3_600_000),
        delay_ms: 3 * 3_600_000,
        backoff_ms: 3 * 3_600_000,
      };
      hosts.restore(long, clock.time);
    },
  });
  assert.equal(sim.of('a.test')[0]!.start, 1_800_000_000_000 + 20_000);
  assert.equal(sim.of('resting.test').length, 0);
  assert.equal(sim.outcomes()['http://resting.test/0'], 'skipped host_resting -');
  assert.equal(sim.fetcher.work.hosts.find('a.test')!.politeness.requests, 9);
});

test('a long fetch reads robots.txt again each day', async () => {
  const sim = await simulate({
    list: urls('a.test', 30),
    web: site({'http://a.test/robots.txt': {status: 200, body: 'User-agent: *\nCrawl-delay: 3600'}}),
  });
  assert.equal(sim.requests.filter(({url}) => url.endsWith('robots.txt')).length, 2);
  assert.ok(sim.durationMs > 29 * 3_600_000);
  for (const gap of gaps(sim.of('a.test')).slice(1)) assert.ok(gap >= 3_600_000);
});

test('a lost lease stops the fetch with an error', async () => {
  let asked = 0;
  await assert.rejects(
    simulate({list: urls('a.test', 5), web: site({}), settings: {leaseOk: () => asked++ < 3}}),
    {code: 'TASK_FAILED'},
  );
});

test('a row that cannot be written stops the fetch with that error', async () => {
  const sink = {
    append: () => {
      throw new Error('disk on fire');
    },
  };
  await assert.rejects(simulate({list: urls('a.test', 5), web: site({}), settings: {sink}}), /disk on fire/);
});

test('a signal: running requests end, no more are sent, rows so far stay', async () => {
  const stop = new AbortController();
  const clock = new VirtualClock();
  const sim = await simulate({
    clock,
    list: [...urls('a.test', 5), ...urls('b.test', 5)],
    web: (url) => {
      if (url === 'http://a.test/2') stop.abort(new Error('stopped'));
      return url.endsWith('robots.txt') ? undefined : ok;
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
  assert.equal(sim.end.stopped, 'signal');
  assert.equal(sim.rows.length, sim.requests.length);
  assert.ok(sim.requests.length >= 7 && sim.requests.length <= 8);
  assert.equal(sim.end.interrupted, false);
});

test('a signal while the loop looks at the disk, between two requests: the fetch ends, and asks for nothing more', async () => {
  for (let at = 1; at <= 6; at++) {
    const stop = new AbortController();
    const clock = new VirtualClock();
    let looks = 0;
    let before = 0;
    const sim = await simulate({
      clock,
      list: urls('a.test', 20),
      web: (url) => {
        if (!stop.signal.aborted) before++;
        return url.endsWith('robots.txt') ? undefined : ok;
      },
      settings: {
        effects: {
          now: clock.now,
          monotonic: clock.now,
          sleep: (ms, signal) =>
            stop.signal.aborted ? Promise.reject(stop.signal.reason) : clock.sleep(ms, signal),
          log: () => undefined,
          signal: stop.signal,
        },
        freeBytes: async () => {
          if (++looks === at) stop.abort(new Error('stopped'));
          return 1e12;
        },
      },
    });
    assert.equal(sim.end.stopped, 'signal');
    assert.equal(sim.requests.length, before);
  }
});

test('a challenge is charged to the host', async () => {
  const sim = await simulate({
    list: urls('a.test', 1),
    web: site({'http://a.test/0': {status: 403, headers: [['cf-mitigated', 'challenge']]}}),
  });
  assert.equal(sim.outcomes()['http://a.test/0'], 'retry challenge 403');
  assert.equal(sim.fetcher.work.hosts.find('a.test')!.politeness.backoffMs, 5 * minute);
});

test('a rule by hand takes effect in a running fetch within five seconds, and so does taking it back', async () => {
  const clock = new VirtualClock();
  const begin = clock.time;

  const later = [
    {at: 10_000, rules: [{...noRule, url_host_name: 'a.test', min_delay_ms: 3000}]},
    {at: 31_000, rules: []},
    {at: 50_000, rules: [{...noRule, url_host_name: 'a.test', blocked: true}]},
  ];
  const sim = await simulate({
    clock,
    list: urls('a.test', 100),
    web: site({}),
    settings: {
      changedRules: async () => {
        if (later.length === 0 || clock.time - begin < later[0]!.at) return undefined;
        return later.shift()!.rules;
      },
    },
  });
  const pauses = sim.of('a.test').map((request, index, all) => ({
    at: request.start - begin,
    gap: index === 0 ? 0 : request.start - all[index - 1]!.end,
  }));
  const between = (from: number, to: number) =>
    pauses.filter(({at}) => at > from && at < to).map(({gap}) => gap);
  assert.deepEqual([...new Set(between(2000, 10_000))], [1000]);
  assert.deepEqual([...new Set(between(18_000, 31_000))], [3000]);
  assert.deepEqual([...new Set(between(39_500, 50_000))], [1000]);
  assert.deepEqual(between(55_000, Infinity), []);
});
