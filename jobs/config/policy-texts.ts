import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {Config} from '../../lib/config/settings.ts';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import type {RuleFile} from '../../lib/scope/scope.ts';

/** The texts that url.rules and scope.files name: a plan takes them along, so that its tasks read no other file. */
export interface PolicyTexts {
  readonly urlRules?: RuleFile;
  readonly scopeFiles: readonly RuleFile[];
}

/** Names are relative to the crawl folder. */
export async function readPolicyTexts(config: Config, dir: string): Promise<PolicyTexts> {
  const scopeFiles: RuleFile[] = [];
  for (const file of config.scope.files) scopeFiles.push(await readRules(dir, file, 'scope.files'));
  if (config.url.rules === undefined) return {scopeFiles};
  return {urlRules: await readRules(dir, config.url.rules, 'url.rules'), scopeFiles};
}

async function readRules(dir: string, file: string, setting: string): Promise<RuleFile> {
  try {
    return {file, text: await readFile(resolve(dir, file), 'utf8')};
  } catch (error) {
    throw new CrawlError(
      'CONFIG_INVALID',
      `${setting} names ${file}, which cannot be read (${systemCode(error)})`,
      {
        facts: {setting, file},
        cause: error,
      },
    );
  }
}
