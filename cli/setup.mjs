#!/usr/bin/env node
/**
 * npm start and npm test on a fresh machine: installs what is missing, builds what is stale, then goes on.
 * Plain JavaScript without packages, since it runs before there are any.
 *
 *   node cli/setup.mjs build            install and build
 *   node cli/setup.mjs start [URL…]     the demo, or a crawl of the URLs
 *   node cli/setup.mjs test [FILE…]     all tests, or some
 */
import {spawnSync} from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {availableParallelism} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sources = ['cli', 'jobs', 'lib'];
const stamp = join(root, 'dist', '.built');

function run(command, args, options = {}) {
  const {status, signal, error} = spawnSync(command, args, {cwd: root, stdio: 'inherit', ...options});
  if (error) {
    console.error(`${command}: ${error.message}`);
    process.exit(1);
  }
  if (signal) process.kill(process.pid, signal);
  if (status !== 0) process.exit(status ?? 1);
}

/** npm as a command that spawn finds on every system. */
function npm(args) {
  const cli = process.env.npm_execpath;
  if (cli && /\.c?js$/.test(cli)) run(process.execPath, [cli, ...args], {stdio: ['inherit', 2, 2]});
  else
    run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, {
      stdio: ['inherit', 2, 2],
      shell: process.platform === 'win32',
    });
}

function install() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  const lock = join(root, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.error('Installing packages…');
  npm(['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

function* files(folder) {
  for (const entry of readdirSync(join(root, folder), {withFileTypes: true})) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

function build() {
  const all = sources.flatMap((folder) => [...files(folder)]);
  const newest = Math.max(
    ...[...all, 'package.json', 'tsconfig.json', 'tsconfig.build.json'].map(
      (path) => statSync(join(root, path)).mtimeMs,
    ),
  );
  const list = all.sort().join('\n');
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= newest && readFileSync(stamp, 'utf8') === list) return;
  console.error('Building…');
  // Beside dist, which stays as it is until all of the new one is there.
  const next = join(root, 'dist.next');
  rmSync(next, {recursive: true, force: true});
  run(
    process.execPath,
    [
      join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
      ...['-p', 'tsconfig.build.json', '--outDir', 'dist.next'],
    ],
    {stdio: ['inherit', 2, 2]},
  );
  for (const path of all.filter((path) => !/\.(ts|mjs)$/.test(path))) {
    mkdirSync(dirname(join(next, path)), {recursive: true});
    copyFileSync(join(root, path), join(next, path));
  }
  writeFileSync(join(next, '.built'), list);
  rmSync(join(root, 'dist'), {recursive: true, force: true});
  renameSync(next, join(root, 'dist'));
}

const [task = 'build', ...rest] = process.argv.slice(2);
install();
if (task === 'test') {
  build(); // some tests run the built command
  const given = rest.filter((argument) => !argument.startsWith('-'));
  const patterns =
    given.length > 0 ? given : readdirSync(join(root, 'test')).flatMap((folder) => testFiles(folder));
  const flags = rest.filter((argument) => argument.startsWith('-'));
  // Files side by side also on two processors, where Node's own rule is one at a time: many of them wait, politely.
  const concurrency = `--test-concurrency=${Math.max(2, availableParallelism())}`;
  run(process.execPath, [
    ...['--import', 'tsx', '--test', '--test-timeout=1800000', concurrency],
    ...flags,
    ...patterns,
  ]);
} else {
  build();
  if (task === 'start') run(process.execPath, [join(root, 'dist', 'cli', 'main.js'), 'demo', ...rest]);
}

/** Node 20 does not expand patterns itself. */
function testFiles(folder) {
  const path = join('test', folder);
  if (!statSync(join(root, path)).isDirectory()) return [];
  return readdirSync(join(root, path))
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => join(path, name));
}
