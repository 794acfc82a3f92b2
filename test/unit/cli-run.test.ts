import assert from 'node:assert/strict';
import {chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {commands} from '../../cli/commands/index.ts';
import {Interruption} from '../../cli/exit-codes.ts';
import {crawl, temporaryFolder} from '../support/cli.ts';

const usageErrors: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
  [['genrate'], /unknown command genrate; did you mean generate\?/],
  [['xyzzy'], /unknown command xyzzy\n {2}Commands: init/],
  [['generate', '--top-m', '5'], /unknown option --top-m; did you mean --top-n\?/],
  [['generate', '-x'], /unknown option -x/],
  [['generate', '--top-n', 'abc'], /--top-n: abc is not a whole number/],
  [['generate', '--top-n', '5.5'], /--top-n: 5\.5 is not a whole number/],
  [['generate', '--top-n', '-5'], /--top-n: -5 is not a whole number/],
  [['generate', '--top-n', '0x10'], /--top-n: 0x10 is not a whole number/],
  [['generate', '--top-n', '0'], /--top-n: 0 is less than 1/],
  [['generate', '--top-n'], /--top-n needs a value/],
  [['generate', '--top-n', '--concurrent'], /--top-n needs a value/],
  [['generate', '--top-n='], /--top-n needs a value/],
  [['generate', '--top-n', '5', '--top-n', '6'], /--top-n is given 2 times: 5, 6/],
  [['generate', '--window', '30'], /--window: 30 has no unit/],
  [['generate', '--concurrent=maybe'], /--concurrent takes no value/],
  [['generate', 'extra'], /unexpected argument extra: crawl generate \[OPTIONS\]/],
  [['inject'], /SOURCE is missing: crawl inject SOURCE… \[OPTIONS\]/],
  [['sql', '--format', 'xml', 'SELECT 1'], /--format: xml is none of: table, json, jsonl, csv, parquet/],
  [['config', '--set', 'a'], /--set: a is not KEY=VALUE/],
  [['fetch', '--parse', '--no-parse'], /both --parse and --no-parse are given/],
  [['config', '-C', 'a', '--crawl', 'b'], /--crawl is given 2 times: a, b/],
  [['--frobnicate'], /unknown option --frobnicate/],
];
test('rules of crawl.yaml are read before a command begins, and told with file, line and number', async (t) => {
  const cwd = temporaryFolder(t);
  for (const [text, message] of [
    ['scope:\n  rules: ["+ all", "+ domian a.org"]\n', /crawl\.yaml:2: scope\.rules:2: unknown kind domian/],
    ['scope:\n  rules:\n    - "+ regex ("\n', /crawl\.yaml:2: scope\.rules:1: bad regular expression/],
    ['fetch:\n  hours: "25:00-26:00"\n', /crawl\.yaml:2: fetch\.hours: 25:00-26:00 is not HH:MM/],
    ['\nschedule:\n  rules: ["host x"]\n', /crawl\.yaml:3: schedule\.rules:1: not a kind/],
  ] as const) {
    writeFileSync(join(cwd, 'crawl.yaml'), text);
    for (const argv of [['status'], ['config'], ['generate']]) {
      const {code, stderr} = await crawl(cwd, argv);
      assert.match(stderr, message);
      assert.equal(code, 2);
    }
  }
  assert.deepEqual(readdirSync(cwd), ['crawl.yaml'], 'nothing is touched');
});

test('an error of a job’s own check of its options names the help of the command', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  const {stderr} = await crawl(cwd, ['inject', '--update', '--overwrite', 'https://a.org/']);
  assert.match(stderr, /exclude each other\n {2}See: crawl inject --help/);
});

test('seeds of which none can be taken are a failure, and kept with their reasons', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  const none = await crawl(cwd, ['inject', 'http://[::bad', 'https:///']);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /2 seeds: 2 rejected[\s\S]*rejected: url_invalid 2/);
  assert.equal((await crawl(cwd, ['inject', 'http://[::bad', 'https://a.org/'])).code, 0, 'one was taken');
  assert.equal((await crawl(cwd, ['inject', 'https://a.org/'])).code, 0, 'known already');
  assert.equal(
    (await crawl(cwd, ['inject', '-'], {stdin: '# no line\n'})).code,
    0,
    'an empty list is no mistake',
  );
  const run = await crawl(cwd, ['run', 'foo bar', '--contact', 'a@example.org']);
  assert.equal(run.code, 1);
  assert.match(run.stderr, /none of the URLs can be crawled: url_invalid 1/);
  const {stdout} = await crawl(cwd, [
    'sql',
    '--format',
    'csv',
    "SELECT exit_code, count(*) AS n FROM runs WHERE job = 'inject' GROUP BY ALL ORDER BY ALL",
  ]);
  assert.equal(stdout, 'exit_code,n\n0,3\n1,2\n');
});

for (const [argv, message] of usageErrors)
  test(`usage: crawl ${argv.join(' ')}`, async (t) => {
    const cwd = temporaryFolder(t);
    const {code, stdout, stderr} = await crawl(cwd, argv);
    assert.match(stderr, message);
    assert.deepEqual([code, stdout], [2, '']);
    assert.deepEqual(readdirSync(cwd), [], 'nothing is touched');
  });

test('help: of the program, of each command, and in front of mistakes', async (t) => {
  const cwd = temporaryFolder(t);
  for (const argv of [['--help'], ['help'], ['-h']]) {
    const {code, stdout, stderr} = await crawl(cwd, argv);
    assert.deepEqual([code, stderr], [0, '']);
    for (const {name, summary} of commands)
      assert.match(stdout, new RegExp(`  ${name} +${summary.slice(0, 20)}`));
  }
  for (const {name} of commands) {
    const {code, stdout} = await crawl(cwd, [name, '--help']);
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`Usage: crawl ${name}`));
    assert.equal((await crawl(cwd, ['help', name])).stdout, stdout);
  }
  assert.equal((await crawl(cwd, ['generate', '--top-n', 'abc', '--help'])).code, 0);
  const nothing = await crawl(cwd, []);
  assert.deepEqual([nothing.code, nothing.stdout], [2, ''], 'no command: help is a message');
  assert.match(nothing.stderr, /Usage: crawl COMMAND/);
});

test('--version', async (t) => {
  const {code, stdout} = await crawl(temporaryFolder(t), ['--version']);
  assert.equal(code, 0);
  assert.match(stdout, /^crawl \d+\.\d+\.\d+\n$/);
});

test('init makes a crawl once', async (t) => {
  const cwd = temporaryFolder(t);
  const first = await crawl(cwd, ['init', 'mine', '--contact', 'me@example.org', '--set', 'fetch.window=8h']);
  assert.deepEqual([first.code, first.stdout], [0, '']);
  assert.match(first.stderr, /made a crawl in .*mine; next: crawl inject -C mine/);
  const text = readFileSync(join(cwd, 'mine/crawl.yaml'), 'utf8');
  assert.match(text, /^ {2}contact: me@example\.org$/m);
  assert.match(text, /^ {2}window: 8h$/m);
  const second = await crawl(cwd, ['init', 'mine', '--contact', 'other@example.org']);
  assert.equal(second.code, 2);
  assert.match(second.stderr, /there is a crawl in .*mine already/);
  assert.equal(readFileSync(join(cwd, 'mine/crawl.yaml'), 'utf8'), text);
});

test('init refuses a file in the way, and a bad setting before it writes', async (t) => {
  const cwd = temporaryFolder(t);
  writeFileSync(join(cwd, 'file'), '');
  assert.match((await crawl(cwd, ['init', 'file'])).stderr, /is not a folder/);
  const bad = await crawl(cwd, ['init', 'mine', '--set', 'fetch.window=8']);
  assert.equal(bad.code, 2);
  assert.match(bad.stderr, /fetch\.window: 8 has no unit/);
  assert.ok(!existsSync(join(cwd, 'mine')));
});

test('the crawl is found by --crawl, CRAWL_DIR, or upwards; no other command makes one', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init', 'a', '--contact', 'a@example.org']);
  await crawl(cwd, ['init', 'b', '--contact', 'b@example.org']);
  mkdirSync(join(cwd, 'a/deep/er'), {recursive: true});
  const contact = async (from: string, argv: readonly string[], env = {}) =>
    /(\w)@example/.exec(
      (await crawl(join(cwd, from), [...argv, 'config', 'agent.contact'], {env})).stdout,
    )?.[1];
  assert.equal(await contact('a/deep/er', []), 'a');
  assert.equal(await contact('a', [], {CRAWL_DIR: join(cwd, 'b')}), 'b');
  assert.equal(await contact('.', ['-C', 'a'], {CRAWL_DIR: join(cwd, 'b')}), 'a');
  for (const argv of [
    ['status'],
    ['generate'],
    ['sql', 'SELECT 1'],
    ['-C', 'no/such', 'inject', 'https://example.org/'],
  ]) {
    const {code, stderr} = await crawl(cwd, argv);
    assert.equal(code, 2);
    assert.match(stderr, /no crawl .*\n.*crawl init/);
  }
  assert.deepEqual(readdirSync(cwd).sort(), ['a', 'b']);
});

test('config shows origins, and errors name file and line', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  writeFileSync(join(cwd, 'crawl.yaml'), 'agent:\n  contact: me@example.org\nfetch:\n  window: 8h\n');
  const {stdout} = await crawl(cwd, ['config', '--json', '--changed', '--set', 'fetch.window=9h'], {
    env: {CRAWL_FETCH_MAX_ACTIVE: '9'},
  });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);
  assert.deepEqual(
    rows.map(({setting, value, origin}) => [setting, value, origin]),
    [
      ['agent.contact', 'me@example.org', `${join(cwd, 'crawl.yaml')}:2`],
      ['fetch.max_active', '9', 'CRAWL_FETCH_MAX_ACTIVE'],
      ['fetch.window', '9h', '--set fetch.window'],
    ],
  );
  writeFileSync(join(cwd, 'crawl.yaml'), 'fetch:\n  windwo: 8h\n');
  const bad = await crawl(cwd, ['status', '--json']);
  assert.equal(bad.code, 2);
  const {error} = JSON.parse(bad.stderr) as {
    error: {code: string; facts: {problems: string[]}; exit: number};
  };
  assert.deepEqual([error.code, error.exit], ['CONFIG_INVALID', 2]);
  assert.match(
    error.facts.problems[0]!,
    /crawl\.yaml:2: unknown setting fetch\.windwo; did you mean fetch\.window\?/,
  );
  const unknown = await crawl(cwd, ['config', 'x', '--set', 'fetch.windwo=8h']);
  assert.match(unknown.stderr, /--set fetch\.windwo: unknown setting fetch\.windwo/);
});

test('errors: message and hint for people, an object for programs, a stack with --debug', async (t) => {
  const cwd = temporaryFolder(t);
  const people = await crawl(cwd, ['status']);
  assert.match(people.stderr, /^crawl: no crawl here: .*\n {2}Name one with --crawl DIR/);
  assert.doesNotMatch(people.stderr, /\n\s+at /);
  assert.match((await crawl(cwd, ['status', '--debug'])).stderr, /\n\s+at /);
  const {error} = JSON.parse((await crawl(cwd, ['status', '--json'])).stderr) as {
    error: Record<string, unknown>;
  };
  assert.deepEqual(Object.keys(error), ['code', 'message', 'hint', 'exit', 'facts']);
  assert.equal(error.code, 'CRAWL_NOT_FOUND');
  const quiet = await crawl(cwd, ['init', 'q', '--quiet']);
  assert.deepEqual([quiet.stdout, quiet.stderr], ['', '']);
});

test('a message cannot steer the terminal', async (t) => {
  const {stderr} = await crawl(temporaryFolder(t), ['\u001b[2Jx']);
  assert.ok(!stderr.includes('\u001b'));
  assert.match(stderr, /unknown command \\u\{1b\}\[2Jx/);
});

test('colour on a terminal only, and never with NO_COLOR', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  const status = async (terminal: boolean, env = {}) =>
    (await crawl(cwd, ['status'], {terminal, env})).stdout.includes('\u001b[');
  assert.equal(await status(true), true);
  assert.equal(await status(false), false);
  assert.equal(await status(true, {NO_COLOR: '1'}), false);
  assert.equal(await status(true, {TERM: 'dumb'}), false);
  assert.equal(await status(true, {NO_COLOR: ''}), true, 'an empty NO_COLOR says nothing');
});

test('a read-only folder: reading works, writing tells', {
  skip: process.getuid?.() === 0 && 'root writes anywhere',
}, async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  const lock = (mode: number) => {
    for (const name of ['.', ...readdirSync(cwd)])
      if (name !== 'crawl.yaml') chmodSync(join(cwd, name), mode);
  };
  lock(0o555);
  t.after(() => lock(0o755));
  assert.equal((await crawl(cwd, ['sql', 'SELECT 1 AS x'])).stdout, 'x\n1\n');
  const {code, stderr} = await crawl(cwd, ['inject', 'https://example.org/']);
  assert.equal(code, 1);
  assert.match(stderr, /cannot write/);
});

test('a signal explains every error after it', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  for (const [name, exit] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const {code, stderr} = await crawl(cwd, ['sql', 'SELECT 1'], {
      signal: AbortSignal.abort(new Interruption(name)),
    });
    assert.equal(code, exit);
    assert.match(stderr, new RegExp(`stopped by ${name}`));
  }
});
