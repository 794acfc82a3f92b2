import {readFile, stat} from 'node:fs/promises';
import {dirname, join, resolve} from 'node:path';
import {type ConfigSources, type ConfigWithOrigins, loadConfig} from '../../lib/config/load.ts';
import {CrawlError, systemCode} from '../../lib/errors.ts';

export type {ConfigWithOrigins} from '../../lib/config/load.ts';
export {environmentName, placeOf, settingsByName} from '../../lib/config/load.ts';
export type {Config} from '../../lib/config/settings.ts';

/** Name of the configuration, whose presence makes a folder a crawl. */
export const configFile = 'crawl.yaml';

export interface CrawlSearch {
  /** --crawl, where it is given. */
  readonly given?: string | undefined;
  /** CRAWL_DIR is looked at. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Absolute path of the crawl that is meant: --crawl, CRAWL_DIR, else the nearest crawl.yaml upwards. Throws CRAWL_NOT_FOUND. */
export async function findCrawl({given, env, cwd}: CrawlSearch): Promise<string> {
  const named = given ?? (env.CRAWL_DIR || undefined);
  if (named !== undefined) {
    const dir = resolve(cwd, named);
    if (await isFile(join(dir, configFile))) return dir;
    const by = given === undefined ? 'CRAWL_DIR' : '--crawl';
    throw new CrawlError('CRAWL_NOT_FOUND', `no crawl in ${dir} (${by}): there is no ${configFile}`, {
      facts: {dir},
      hint: `Make one with: crawl init ${named}`,
    });
  }
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    if (await isFile(join(dir, configFile))) return dir;
    if (dir === dirname(dir))
      throw new CrawlError(
        'CRAWL_NOT_FOUND',
        `no crawl here: no ${configFile} in ${resolve(cwd)} or above it`,
        {
          facts: {dir: resolve(cwd)},
          hint: 'Name one with --crawl DIR or CRAWL_DIR, or make one with: crawl init DIR',
        },
      );
  }
}

/** The configuration of the crawl in `dir`, and where each value comes from. */
export async function readConfiguration(
  dir: string,
  sources: Omit<ConfigSources, 'file'>,
): Promise<ConfigWithOrigins> {
  const path = join(dir, configFile);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new CrawlError(
      'INPUT_UNREADABLE',
      `${path} cannot be read: ${systemCode(error) ?? String(error)}`,
      {
        facts: {file: path},
        cause: error,
      },
    );
  }
  const loaded = loadConfig({...sources, file: {name: path, text}});
  const {fetch, scope, schedule} = loaded.config;
  if (fetch.hours !== undefined || scope.rules.length + schedule.rules.length > 0)
    (await import('./check-rules.ts')).checkRules(loaded);
  return loaded;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return false;
    throw error;
  }
}
