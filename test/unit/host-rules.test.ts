import assert from 'node:assert/strict';
import {test} from 'node:test';
import {ruleTargetOf} from '../../jobs/host/name.ts';
import {hostRules} from '../../jobs/host-rules.ts';
import {type HostRule, HostRules, isAbout} from '../../lib/fetcher/host-rules.ts';
import {FetchHosts} from '../../lib/fetcher/hosts.ts';
import {FetchQueues} from '../../lib/fetcher/queues.ts';
import {hostKey} from '../../lib/url/keys.ts';
import {urlPolicy} from '../../lib/url/normalize.ts';
import {crawl as command} from '../support/command.ts';
import {defaultOptions} from '../support/default-options.ts';
import {configOf, noRule} from '../support/fetch-sim.ts';
import {type JobHarness, jobHarness} from '../support/job-harness.ts';
import {injectUrls, round} from '../support/small-round.ts';
import {page} from '../support/small-web.ts';
import {defaultConfig} from '../support/url-config.ts';

/** Rules by hand about domains and patterns, and which of several holds. */

const rule = (url_host_name: string, says: Partial<HostRule>): HostRule => ({
  ...noRule,
  ...says,
  url_host_name,
});

test('a domain is itself and what is below it; a star is any text', () => {
  for (const [text, host, expected] of [
    ['www.example.org', 'www.example.org', true],
    ['www.example.org', 'a.www.example.org', false],
    ['.example.org', 'example.org', true],
    ['.example.org', 'a.b.example.org', true],
    ['.example.org', 'notexample.org', false],
    ['*.example.org', 'a.b.example.org', true],
    ['*.example.org', 'example.org', false],
    ['*.example.org', '.example.org', true],
    ['shop-*.example.*', 'shop-7.example.co.uk', true],
    ['shop-*.example.*', 'shop-.example.', true],
    ['shop-*.example.*', 'shop7.example.org', false],
    ['*a*a*b', 'aaaaaaaaaaaaaaaaaaab', true],
    ['*a*a*b', 'aaaaaaaaaaaaaaaaaaa', false],
    ['*', 'anything', true],
    ['a*', 'a', true],
    ['**a', 'a', true],
  ] as const)
    assert.equal(isAbout(text, host), expected, `${text} ${host}`);
});

test('a pattern of many stars is held against a long name in time of their product', () => {
  const stars = `${'*a'.repeat(2000)}b`;
  assert.equal(isAbout(stars, 'a'.repeat(4000)), false);
});

test('of several rules the narrowest that says something of a matter decides it', () => {
  const rules = new HostRules([
    rule('.example.org', {blocked: true, min_delay_ms: 9000, max_connections: 3}),
    rule('.shop.example.org', {min_delay_ms: 7000}),
    rule('*.shop.example.org', {hours: '22:00-06:00'}),
    rule('www.shop.example.org', {unblocked: true, min_delay_ms: 1000}),
  ]);
  assert.equal(rules.of('example.net'), null);
  assert.deepEqual(rules.of('example.org'), {
    ...{blocked: true, min_delay_ms: 9000, max_connections: 3},
    ...{hours: null, max_rate: null, max_bandwidth: null},
  });
  assert.deepEqual(rules.of('www.shop.example.org'), {
    ...{blocked: false, min_delay_ms: 1000, max_connections: 3},
    ...{hours: '22:00-06:00', max_rate: null, max_bandwidth: null},
  });
  assert.deepEqual(
    rules.about('a.shop.example.org').map(({url_host_name}) => url_host_name),
    ['*.shop.example.org', '.shop.example.org', '.example.org'],
  );
});

test('in a fetch wide rules hold for hosts that come later, too, and are taken back', () => {
  const {politeness} = configOf();
  const hosts = new FetchHosts(
    politeness,
    new FetchQueues({maxActive: 9, maxPerHost: 1, maxPerAddress: 4, maxPerDomain: 4}),
  );
  const host = (name: string) => hosts.host(name, 'example.org', hostKey(name));
  const early = host('a.example.org');
  hosts.applyRules([rule('.example.org', {blocked: true}), rule('b.example.org', {unblocked: true})]);
  const late = host('c.example.org');
  assert.deepEqual(
    [early, host('b.example.org'), late].map((one) => one.rule?.blocked),
    [true, false, true],
  );
  hosts.applyRules([rule('a.example.org', {min_delay_ms: 4000})]);
  assert.deepEqual([early.rule?.blocked, early.politeness.minDelayMs, late.rule], [false, 4000, null]);
});

test('whom a rule is about is told in one of three ways', () => {
  const policy = urlPolicy(defaultConfig.url);
  const none = {host: undefined, domain: undefined, pattern: undefined};
  for (const [given, text] of [
    [{host: 'https://WWW.example.org/a'}, 'www.example.org'],
    [{domain: '*.Bücher.example'}, '.xn--bcher-kva.example'],
    [{domain: '.example.org'}, '.example.org'],
    [{pattern: ' *.Example.org '}, '*.example.org'],
  ] as const)
    assert.equal(ruleTargetOf({...none, ...given}, policy), text);
  for (const given of [
    {},
    {host: 'a.test', domain: 'a.test'},
    {pattern: 'a.test'},
    {pattern: '*/a'},
    {domain: ''},
  ])
    assert.throws(() => ruleTargetOf({...none, ...given}, policy), {code: 'USAGE'}, JSON.stringify(given));
});

const setRule = (crawl: JobHarness, change: Partial<Parameters<typeof hostRules.plan>[0]>) =>
  crawl.run(hostRules, {...defaultOptions(hostRules), ...change});

test('a blocked domain is passed over by generate, and updatedb adds none of its URLs', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://a.test/', 'http://www.bad.test/', 'http://good.bad.test/']);
  await setRule(crawl, {domain: 'bad.test', block: true});
  await setRule(crawl, {host: 'good.bad.test', unblock: true});
  const links = ['http://new.bad.test/', 'http://good.bad.test/1', 'http://www.bad.test/1', 'http://b.test/'];
  const {urls, left, refused} = await round(crawl, () => page('a page', links));
  assert.deepEqual(urls, ['http://a.test/', 'http://good.bad.test/']);
  assert.deepEqual(left, {host_blocked: 1});
  assert.deepEqual(refused, {host_blocked: 2});
  const added = await crawl.sql<{url: string}>('SELECT url FROM crawldb WHERE depth = 1 ORDER BY url');
  assert.deepEqual(
    added.map(({url}) => url),
    ['http://b.test/', 'http://good.bad.test/1'],
  );

  await setRule(crawl, {domain: 'bad.test', unblock: true});
  const rules = await crawl.sql<HostRule>('SELECT * FROM hostrules');
  assert.deepEqual(
    rules.map(({url_host_name}) => url_host_name),
    ['good.bad.test'],
    'the rule of the domain says nothing any more',
  );
});

test('crawl host shows domains, patterns, and what they mean for a host', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://www.bad.test/', 'http://www.bad.test/1', 'http://cdn.bad.test/']);
  const host = (...argv: string[]) => command(['host', '-C', crawl.dir, ...argv]);
  const set = await host('--domain', 'bad.test', '--block', '--note', 'spam');
  assert.deepEqual(
    [set.code, set.stderr],
    [0, '.bad.test: blocked: spam; a running fetch keeps to it within 5 s\n'],
  );
  const shown = await host('--domain', 'bad.test');
  assert.match(
    shown.stdout,
    /^\.bad\.test\nblocked: spam; by hand, .*\n2 known hosts with 3 URLs: www\.bad\.test, cdn\.bad\.test\n$/,
  );
  const pattern = await host('--pattern', 'cdn.*', '--json');
  assert.deepEqual(JSON.parse(pattern.stdout), {
    ...{url_host_name: 'cdn.*', rule: null, hosts: 1, urls: 1, largest: ['cdn.bad.test']},
  });
  const one = await host('www.bad.test');
  assert.match(one.stdout, /^Blocked by hand, as \.bad\.test: nothing is asked of it\.$/m);
  assert.match(one.stdout, /^rule {8}\.bad\.test: blocked: spam; by hand/m);
  await host('www.bad.test', '--unblock');
  assert.match(
    (await host('www.bad.test')).stdout,
    /^rule {8}asked although a wider rule blocks it; by hand/m,
  );
  const unknown = await host('wwv.bad.test', '--block');
  assert.equal(unknown.code, 2);
  assert.match(
    unknown.stderr,
    /Near it are: www\.bad\.test cdn\.bad\.test\. If it is meant all the same, give --new/,
  );
  assert.equal((await host('wwv.bad.test', '--block', '--new')).code, 0);
  const {stderr: nothingNear} = await host('elsewhere.org', '--block');
  assert.match(nothingNear, /lists the hosts\. If it is meant all the same, give --new\./);
});

test('a domain that nothing wider blocks needs no exception, whatever holds for a host of its name', async (t) => {
  const crawl = await jobHarness(t);
  const set = (says: object) => crawl.run(hostRules, {...defaultOptions(hostRules), ...says});
  await set({host: 'example.org', block: true});
  await set({domain: 'example.org', unblock: true});
  const rules = await crawl.sql('SELECT url_host_name, blocked, unblocked FROM hostrules');
  assert.deepEqual(rules, [{url_host_name: 'example.org', blocked: true, unblocked: null}]);
});
