import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {TestContext} from 'node:test';
import type {Effects} from '../../lib/effects.ts';
import {configName, makeFolders} from '../../lib/store/crawl.ts';

/** An empty folder that goes when the test ends. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'crawl-test-'));
  t.after(() => rm(dir, {recursive: true, force: true}));
  return dir;
}

/** A crawl in which nothing has happened yet. */
export async function temporaryCrawl(t: TestContext, yaml = ''): Promise<string> {
  const dir = await temporaryFolder(t);
  await makeFolders(dir);
  await writeFile(join(dir, configName), yaml);
  return dir;
}

export interface TestEffects extends Effects {
  /** Moves the clock on. */
  pass(ms: number): void;
  readonly events: {level: string; event: string; fields: Readonly<Record<string, unknown>> | undefined}[];
}

/** A world whose clock stands at `start` and moves by `pass` and `sleep`, with a seeded chance. */
export function testEffects(
  start = Date.UTC(2026, 0, 1),
  signal = new AbortController().signal,
): TestEffects {
  let now = start;
  let seed = 1;
  const events: TestEffects['events'] = [];
  return {
    now: () => now,
    monotonic: () => now,
    async sleep(ms, abort) {
      (abort ?? signal).throwIfAborted();
      now += ms;
    },
    random() {
      seed = (seed * 48_271) % 2_147_483_647; // Park and Miller's generator: enough for a test, the same each time
      return seed / 2_147_483_647;
    },
    log: (level, event, fields) => events.push({level, event, fields}),
    signal,
    pass: (ms) => {
      now += ms;
    },
    events,
  };
}
