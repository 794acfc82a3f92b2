import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl, query} from '../support/command.ts';
import {remount, smallDisk} from '../support/mounts.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const urls = async (dir: string) =>
  (await query<{n: number}>(dir, 'SELECT count(*) AS n FROM crawldb'))[0]!.n;

test('a disk that may only be read: questions are answered, a command that writes says so and changes nothing', async (t) => {
  const disk = await smallDisk(t, '20m');
  if (disk === undefined) return;
  const dir = join(disk, 'crawl');
  assert.equal((await crawl(['init', dir])).code, 0);
  assert.equal((await crawl(['inject', '-C', dir, 'http://one.test/'])).code, 0);
  remount(disk, 'ro');
  assert.equal(await urls(dir), 1);
  assert.equal((await crawl(['status', '-C', dir])).code, 0);
  const refused = await crawl(['inject', '-C', dir, 'http://two.test/']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /cannot write .*\n.*permissions and mount options/);
  const init = await crawl(['init', join(disk, 'other')]);
  assert.equal(init.code, 1, init.stderr);
  remount(disk, 'rw');
  assert.equal(await urls(dir), 1);
  assert.equal((await crawl(['inject', '-C', dir, 'http://two.test/'])).code, 0);
  assert.equal(await urls(dir), 2);
});

test('a full disk: the command fails clearly, changes nothing, and does its work when there is room', async (t) => {
  const disk = await smallDisk(t, '2m');
  if (disk === undefined) return;
  const dir = join(disk, 'crawl');
  const seeds = join(await temporaryFolder(t), 'seeds.txt');
  const lines = Array.from({length: 40_000}, (_, i) => `http://host${i}.test/${(i * 7919) % 1_000_003}`);
  await writeFile(seeds, lines.join('\n'));
  assert.equal((await crawl(['init', dir])).code, 0);
  assert.equal((await crawl(['inject', '-C', dir, 'http://one.test/'])).code, 0);
  const full = await crawl(['inject', '-C', dir, seeds]);
  assert.equal(full.code, 1, full.stderr);
  assert.match(full.stderr, /DISK_FULL|no space left/i);
  assert.equal(await urls(dir), 1);
  remount(disk, 'size=200m');
  const again = await crawl(['inject', '-C', dir, seeds]);
  assert.equal(again.code, 0, again.stderr);
  assert.equal(await urls(dir), 40_001);
});
