import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadConfig, settingsByName} from '../../lib/config/load.ts';
import {configTemplate} from '../../lib/config/template.ts';
import {CrawlError} from '../../lib/errors.ts';
import {nearest} from '../../lib/nearest.ts';

const defaults = loadConfig({env: {}}).config;
const load = (text: string, env: Record<string, string> = {}) =>
  loadConfig({file: {name: 'crawl.yaml', text}, env});

/** Lines of the message that a configuration is refused with. */
function problems(text: string, env: Record<string, string> = {}): string[] {
  try {
    load(text, env);
  } catch (error) {
    assert.ok(error instanceof CrawlError && error.code === 'CONFIG_INVALID' && error.exit === 2);
    return error.message.split('\n');
  }
  return [];
}

test('the template gives the defaults, as it is and with each setting uncommented', () => {
  assert.deepEqual(load(configTemplate()).config, defaults);
  const uncommented = configTemplate().replaceAll(/^ {2}# (\w+: (?!#).*)$/gm, '  $1');
  assert.notEqual(uncommented, configTemplate());
  const loaded = load(uncommented);
  assert.deepEqual(loaded.config, defaults);
  const inFile = Object.values(loaded.origins).filter(({kind}) => kind === 'file').length;
  const withDefault = [...settingsByName.values()].filter((one) => one.default !== undefined).length;
  assert.equal(inFile, withDefault);
});

test('what the template says is no wider than a screen', () => {
  const wide = configTemplate()
    .split('\n')
    .filter((line) => /^ *# \S+ \S/.test(line) && !/^ *# \w+:/.test(line) && line.length > 105);
  assert.deepEqual(wide, []);
});

test('given settings stand in the template as values', () => {
  const text = configTemplate({
    'agent.contact': 'https://example.org/bot',
    'fetch.store_errors': 'no',
    'politeness.min_delay': '2s',
    'scope.schemes': 'http',
    'network.connect_to': 'a.test:80=127.0.0.1:8080',
    'generate.top_n': '7',
  });
  const {config} = load(text);
  assert.equal(config.agent.contact, 'https://example.org/bot');
  assert.equal(config.fetch.store_errors, false);
  assert.equal(config.politeness.min_delay, 2000);
  assert.deepEqual(config.scope.schemes, ['http']);
  assert.deepEqual(config.network.connect_to, {'a.test:80': '127.0.0.1:8080'});
  assert.equal(config.generate.top_n, 7);
  assert.throws(() => configTemplate({'agent.nmae': 'x'}), /unknown setting agent\.nmae/);
  assert.throws(() => configTemplate({'fetch.window': '8'}), /no unit/);
});

test('a flag wins over the environment, that over the file, that over the default', () => {
  const key = 'politeness.min_delay';
  const file = {name: 'crawl.yaml', text: '# c\npoliteness:\n  min_delay: 2s\n'};
  const env = {CRAWL_POLITENESS_MIN_DELAY: '3s'};
  const flags = [{flag: '--set', key, texts: ['4s']}];
  const at = (sources: Parameters<typeof loadConfig>[0]) => {
    const {config, origins} = loadConfig(sources);
    return [config.politeness.min_delay, origins[key]];
  };
  assert.deepEqual(at({env: {}}), [1000, {kind: 'default'}]);
  assert.deepEqual(at({env: {}, file}), [2000, {kind: 'file', file: 'crawl.yaml', line: 3}]);
  assert.deepEqual(at({env, file}), [3000, {kind: 'environment', name: 'CRAWL_POLITENESS_MIN_DELAY'}]);
  assert.deepEqual(at({env, file, flags}), [4000, {kind: 'flag', flag: '--set'}]);
});

const cases: readonly (readonly [name: string, text: string, message: string])[] = [
  [
    'unknown key',
    'politeness:\n  min_delai: 3s\n',
    'crawl.yaml:2: unknown setting politeness.min_delai; did you mean politeness.min_delay?',
  ],
  [
    'key of another section',
    'fetch:\n  top_n: 3\n',
    'crawl.yaml:2: unknown setting fetch.top_n; did you mean generate.top_n?',
  ],
  ['unknown section', '\nfetchh:\n  x: 1\n', 'crawl.yaml:2: unknown section fetchh; did you mean fetch?'],
  [
    'setting without section',
    'top_n: 3\n',
    'crawl.yaml:1: unknown section top_n; top_n belongs into section generate',
  ],
  [
    'wrong type',
    'generate:\n  top_n: many\n',
    'crawl.yaml:2: generate.top_n: many is not a whole number, as 500 or 50_000',
  ],
  ['list for a text', 'agent:\n  name: [a]\n', 'crawl.yaml:2: agent.name: it is a list, wanted is a text'],
  [
    'text for a list',
    'scope:\n  rules: "- regex x"\n',
    'crawl.yaml:2: scope.rules: it is the string - regex x, wanted is a list, as [a, b]',
  ],
  [
    'missing unit',
    'politeness:\n  backoff: 5\n',
    'crawl.yaml:2: politeness.backoff: 5 has no unit: write 5s, 5m, 5h or 5d',
  ],
  [
    'wrong unit',
    'politeness:\n  backoff: 5y\n',
    'crawl.yaml:2: politeness.backoff: 5y has the unit y; known are ms s m h d',
  ],
  ['no value', 'agent:\n  name:\n', 'crawl.yaml:2: agent.name: it has no value'],
  ['out of bounds', 'politeness:\n  jitter: 2\n', 'crawl.yaml:2: politeness.jitter: 2 is more than 1'],
  [
    'a section that is none',
    'fetch: 3\n',
    'crawl.yaml:1: fetch: it must hold settings, as `key: value` on lines of their own',
  ],
  ['not sections at all', '- a\n', 'crawl.yaml:1: the file must hold sections, as `politeness:`'],
  ['key twice', 'agent:\n  name: a\n  name: b\n', 'crawl.yaml:3: name is given twice'],
  ['two documents', 'agent: {}\n---\nfetch: {}\n', 'crawl.yaml:2: the file must be one document'],
  ['tab', 'agent:\n\tname: a\n', 'crawl.yaml:2: Tabs are not allowed as indentation'],
  [
    'bounds that cross',
    'schedule:\n  max_interval: 7d\n',
    'crawl.yaml:2: schedule.max_interval: schedule.interval 30d is more than schedule.max_interval 7d',
  ],
  [
    'product token',
    'agent:\n  name: My Bot 2\n',
    'crawl.yaml:2: agent.name: My Bot 2 is no product token: letters, - and _ only (RFC 9309, 2.2.1)',
  ],
  [
    'contact',
    'agent:\n  contact: me\n',
    'crawl.yaml:2: agent.contact: me is neither a URL (https://…) nor an e-mail address',
  ],
  [
    'header injection',
    'fetch:\n  accept: "a\\r\\nX: y"\n',
    'crawl.yaml:2: fetch.accept: a header holds printable ASCII characters only',
  ],
  ['memory', 'storage:\n  memory: 2\n', 'crawl.yaml:2: storage.memory: 2 is less than 32MiB'],
  [
    'range',
    'network:\n  allow: [10.0.0.0/99]\n',
    'crawl.yaml:2: network.allow: 10.0.0.0/99 is no address range, as 127.0.0.0/8 or ::1',
  ],
];
for (const [name, text, message] of cases)
  test(`crawl.yaml: ${name}`, () => {
    const found = problems(text);
    assert.equal(found.length, 1, found.join('\n'));
    assert.ok(found[0]!.startsWith(message), `${found[0]}\nwanted: ${message}`);
  });

test('all problems are told at once', () => {
  assert.equal(problems('agent:\n  nmae: x\nfetch:\n  window: 8\n', {CRAWL_FETCH_MAX_ACTIVE: 'x'}).length, 3);
});

test('a problem is one line, whatever line breaks a key or value has', () => {
  assert.deepEqual(problems('? b\n\n $'), ['crawl.yaml:1: unknown section b $']);
  const [problem, ...others] = problems('scope:\n  stay: "any\\nwhere"');
  assert.match(problem ?? '', /^crawl\.yaml:2: scope\.stay: "any\\nwhere" is none of/);
  assert.deepEqual(others, []);
});

test('the environment is strict for what looks like ours, and leaves the rest alone', () => {
  assert.deepEqual(problems('', {CRAWL_FETCH_MAXACTIVE: '3'}), [
    'CRAWL_FETCH_MAXACTIVE: unknown setting; did you mean CRAWL_FETCH_MAX_ACTIVE?',
  ]);
  assert.deepEqual(problems('', {CRAWL_POLITNESS_MIN_DELAY: '3s'}), [
    'CRAWL_POLITNESS_MIN_DELAY: unknown setting; did you mean CRAWL_POLITENESS_MIN_DELAY?',
  ]);
  assert.deepEqual(problems('', {CRAWL_FETCH_MAX_ACTIVE: 'x'}), [
    'CRAWL_FETCH_MAX_ACTIVE: fetch.max_active: x is not a whole number, as 500 or 50_000',
  ]);
  const others = {CRAWL_DIR: '/x', CRAWL_TEST_CORPORA: '/y', CRAWL_FETCH_MAX_ACTIVE: '', PATH: '/bin'};
  assert.deepEqual(problems('', others), []);
});

test('empty files, sections with comments alone and anchors are fine', () => {
  for (const text of ['', '# nothing\n', 'fetch:\n  # window: 8h\n', '---\n'])
    assert.deepEqual(load(text).config, defaults);
  const {config} = load('fetch:\n  connect_timeout: &t 7s\n  idle_timeout: *t\n');
  assert.deepEqual([config.fetch.connect_timeout, config.fetch.idle_timeout], [7000, 7000]);
});

test('names near to a word are offered, others are not', () => {
  assert.equal(nearest('genrate', ['inject', 'generate']), 'generate');
  assert.equal(nearest('min-delay', ['max_delay', 'min_delay']), 'min_delay');
  assert.equal(nearest('xyzzy', ['inject', 'generate']), undefined);
  assert.equal(nearest('a', ['b', 'c']), undefined);
});
