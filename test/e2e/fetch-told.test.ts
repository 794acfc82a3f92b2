import assert from 'node:assert/strict';
import test from 'node:test';
import {crawl, temporaryFolder} from '../support/cli.ts';
import {serveWeb} from '../support/fetch-web.ts';

test('a fetch tells outcomes, reasons and the hosts behind them; status and explain tell why a host rests', async (t) => {
  const web = await serveWeb(t, {
    'gone.test': () => undefined,
    'busy.test': (path) =>
      path === '/robots.txt' ? undefined : {status: 503, headers: {'retry-after': '7200'}},
    'good.test': (path) => ({body: path}),
  });
  const cwd = temporaryFolder(t);
  const env = {CRAWL_DIR: cwd};
  const set = [
    'network.connect_to=' + web.connectTo,
    'politeness.min_delay=0s',
    'politeness.latency_factor=0',
  ];
  const flags = [...set.flatMap((one) => ['--set', one]), '--contact', 'me@example.org'];
  const run = async (...argv: string[]) => {
    const {code, stdout, stderr} = await crawl(cwd, argv, {env});
    assert.equal(code, 0, stderr);
    return stdout + stderr;
  };
  const urls = [
    ...[0, 1, 2].map((page) => `http://gone.test/${page}`),
    ...['/a', '/b'].map((path) => `http://busy.test${path}`),
  ];
  for (const argv of [['init'], ['inject', 'http://good.test/', ...urls], ['generate']]) await run(...argv);
  assert.doesNotMatch(await run('status'), /^hosts /m, 'none was asked');

  const told = await run('fetch', '--no-parse', ...flags);
  assert.match(told, /1 fetched, 3 gone, 1 to retry, 1 skipped/);
  assert.match(told, /reasons: http_404 3, host_resting 1, http_503 1/);
  assert.match(told, /most of them: gone\.test 3 http_404, busy\.test 1 http_503, busy\.test 1 host_resting/);

  assert.match(await run('status'), /^hosts {5}3 asked; 1 rest, the longest for [^:]+: 1 by retry_after$/m);
  const {hosts} = JSON.parse(await run('status', '--json')) as {hosts: {asked: number; resting: object}};
  assert.deepEqual([hosts.asked, hosts.resting], [3, {retry_after: 1}]);
  const why = await run('explain', 'http://busy.test/a');
  assert.match(why, /delay 2 h by retry_after; 1 failure in a row, last http_503/);
  assert.match(why, /the longest of: min_delay .*, latency .*, crawl_delay .*, retry_after 2 h ←, backoff /);
});

test('a fetch that ends in an outage does not say that it was over', async (t) => {
  const cwd = temporaryFolder(t);
  const env = {CRAWL_DIR: cwd};
  for (const argv of [
    ['init'],
    ['inject', 'http://a.test/', 'http://b.test/', 'http://c.test/'],
    ['generate'],
  ])
    assert.equal((await crawl(cwd, argv, {env})).code, 0);
  const nobody = ['network.connect_to=*:80=127.0.0.1:1', 'fetch.outage_hosts=2'];
  const flags = [...nobody.flatMap((one) => ['--set', one]), '--contact', 'me@example.org'];
  const {stderr} = await crawl(cwd, ['fetch', '--no-parse', '--window', '2s', ...flags], {env});
  assert.match(stderr, /own_network_down/);
  assert.match(stderr, /reasons: own_network 3/);
  assert.doesNotMatch(stderr, /own_network_up/);
});
