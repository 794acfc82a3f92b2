import {spawnSync} from 'node:child_process';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import type {TestContext} from 'node:test';
import {temporaryFolder} from './temporary-crawl.ts';

/**
 * A folder that is a small disk of its own until the test ends. Undefined where this user may not mount one: then the
 * test is skipped, or fails where CRAWL_TEST_REQUIRE_ALL is set.
 *
 * @param size as mount's option: `1m`
 */
export async function smallDisk(t: TestContext, size: string): Promise<string | undefined> {
  let mounted: string | undefined;
  t.after(() => {
    if (mounted !== undefined) spawnSync('umount', ['-l', mounted]);
  }); // before the folder is removed
  const dir = join(await temporaryFolder(t), 'small');
  await mkdir(dir);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir]).status !== 0) {
    const why = 'mounting a small disk needs rights that this user has not';
    if (process.env.CRAWL_TEST_REQUIRE_ALL) throw new Error(why);
    t.skip(why);
    return undefined;
  }
  mounted = dir;
  return dir;
}

/** Mounts the disk anew: `ro`, `rw`, `size=20m`. */
export function remount(dir: string, options: string): void {
  const {status, stderr} = spawnSync('mount', ['-o', `remount,${options}`, dir], {encoding: 'utf8'});
  if (status !== 0) throw new Error(stderr);
}
