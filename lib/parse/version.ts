import {createHash} from 'node:crypto';
import type {Config} from '../config/settings.ts';

/**
 * Version of the parsers: raised by any change that makes a page give other columns or links, so that results of
 * both can stand side by side.
 */
export const parserVersion = 4;

/**
 * Name of the parse that a configuration gives: parser version, and a digest of the settings that its results
 * depend on. Where results stay the same the name does: time limits and numbers of workers are not in it, nor is the
 * scope, whose digest stands with each link, nor are extractors, whose tables have digests of their own.
 *
 * @param urlDigest digest of the URL policy, by which links are normalized
 */
export function parseId(config: Pick<Config, 'parse' | 'links' | 'agent'>, urlDigest: string): string {
  const {
    timeout: _timeout,
    workers: _workers,
    extractors: _extractors,
    extractor_timeout: _extractorTimeout,
    ...parse
  } = config.parse;
  const {follow, nofollow, max_per_page, max_anchor} = config.links;
  const facts = {
    parse,
    links: {follow: [...follow].sort(), nofollow, max_per_page, max_anchor},
    agent: config.agent.name,
    url: urlDigest,
  };
  const digest = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 8);
  return `v${parserVersion}-${digest}`;
}
