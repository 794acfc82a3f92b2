import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdir, readFile, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {isDead, type LockOwner, lockHolder, takeLocks, thisOwner} from '../../lib/store/lock.ts';
import {temporaryCrawl, testEffects} from '../support/temporary-crawl.ts';

const path = (dir: string): string => join(dir, 'tmp', 'locks', 'crawldb.json');

test('a lock held by a living process is refused, naming its owner, and free after release', async (t) => {
  const dir = await temporaryCrawl(t);
  const held = await takeLocks(dir, ['crawldb', 'segment:20260101000000'], 'updatedb', testEffects());
  await assert.rejects(takeLocks(dir, ['crawldb'], 'inject', testEffects()), {
    code: 'LOCKED',
    message: new RegExp(`crawldb is in use by crawl updatedb \\(process ${process.pid} `),
  });
  assert.equal((await lockHolder(dir, 'crawldb'))?.command, 'updatedb');
  await held.release();
  assert.equal(await lockHolder(dir, 'crawldb'), undefined);
  await (await takeLocks(dir, ['crawldb'], 'inject', testEffects())).release();
  assert.deepEqual(await readdir(join(dir, 'tmp', 'locks')), []);
});

test('all locks or none: what was taken before the refused one is given back', async (t) => {
  const dir = await temporaryCrawl(t);
  const held = await takeLocks(dir, ['linkdb'], 'invertlinks', testEffects());
  await assert.rejects(takeLocks(dir, ['crawldb', 'linkdb'], 'updatedb', testEffects()), {code: 'LOCKED'});
  assert.equal(await lockHolder(dir, 'crawldb'), undefined);
  await held.release();
});

test('the lock of a process that is gone is taken over, with a message', async (t) => {
  const dir = await temporaryCrawl(t);
  const child = spawn(process.execPath, ['-e', ''], {stdio: 'ignore'});
  await once(child, 'exit');
  const owner: LockOwner = {...thisOwner('crawldb', 'fetch', 0), pid: child.pid!, process_start: '1'};
  await (await takeLocks(dir, ['crawldb'], 'x', testEffects())).release(); // makes the folder
  await writeFile(path(dir), JSON.stringify(owner));
  const effects = testEffects();
  const held = await takeLocks(dir, ['crawldb'], 'inject', effects);
  assert.deepEqual(
    effects.events.map((event) => event.event),
    ['stale_lock_taken_over'],
  );
  assert.equal((JSON.parse(await readFile(path(dir), 'utf8')) as LockOwner).command, 'inject');
  await held.release();
});

test('a process id used again by another process does not keep a lock alive', () => {
  assert.equal(isDead({...thisOwner('crawldb', 'fetch', 0), process_start: '1'}, 0), true);
  assert.equal(
    isDead(thisOwner('crawldb', 'fetch', 0), 1e9),
    false,
    'this very process lives, whatever its heartbeat',
  );
});

test('an owner on another machine is dead when its heartbeat is a minute old', async (t) => {
  const dir = await temporaryCrawl(t);
  const elsewhere: LockOwner = {...thisOwner('crawldb', 'fetch', 0), host: 'elsewhere', boot_id: 'other'};
  assert.equal(isDead(elsewhere, 59_000), false);
  assert.equal(isDead(elsewhere, 61_000), true);
  await (await takeLocks(dir, ['crawldb'], 'x', testEffects())).release();
  await writeFile(path(dir), JSON.stringify(elsewhere));
  await assert.rejects(takeLocks(dir, ['crawldb'], 'inject', testEffects()), {code: 'LOCKED'});
  await utimes(path(dir), new Date(), new Date(Date.now() - 120_000));
  await (await takeLocks(dir, ['crawldb'], 'inject', testEffects())).release();
});

test('of many that want one lock at once exactly one gets it', async (t) => {
  const dir = await temporaryCrawl(t);
  const outcomes = await Promise.allSettled(
    Array.from({length: 20}, (_, index) => takeLocks(dir, ['crawldb'], `job${index}`, testEffects())),
  );
  const winners = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  assert.equal(winners.length, 1);
  await winners[0]!.value.release();
});
