import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {Config} from '../lib/config/settings.ts';
import {CrawlError, systemCode} from '../lib/errors.ts';
import {makeScope, type Scope} from '../lib/scope/scope.ts';
import {type UrlPolicy, urlPolicy} from '../lib/url/normalize.ts';

/** The policies that decide about URLs, with the rule files that the configuration names, relative to the crawl folder. */
export async function readPolicies(dir: string, config: Config): Promise<{policy: UrlPolicy; scope: Scope}> {
  const rules = config.url.rules;
  const files = await Promise.all(
    config.scope.files.map(async (file) => ({file, text: await readRules(dir, file, 'scope.files')})),
  );
  return {
    policy: urlPolicy(
      config.url,
      rules === undefined ? undefined : {file: rules, text: await readRules(dir, rules, 'url.rules')},
    ),
    scope: makeScope(config.scope, config.url, config.links, files),
  };
}

async function readRules(dir: string, file: string, setting: string): Promise<string> {
  const path = resolve(dir, file);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CrawlError(
      'INPUT_UNREADABLE',
      `${setting} names ${path}, which cannot be read: ${systemCode(error) ?? String(error)}`,
      {facts: {setting, path}, cause: error},
    );
  }
}
