import {parseUrl} from '../url/parse.ts';
import {sitemapsOf} from './from-response.ts';
import {isAllowed, rulesFor} from './match.ts';
import {parseRobots, type RobotsNote} from './parse.ts';

/** One question of `crawl check robots`: a robots.txt as text or base64, whose name, which URL. */
export interface RobotsQuestion {
  readonly robots?: string;
  /** For bytes that are no UTF-8. Used where `robots` is absent. */
  readonly robots_base64?: string;
  /** Product token, or a User-Agent header whose first token is used. */
  readonly agent: string;
  /** Absolute, or a path. */
  readonly url: string;
}

export interface RobotsCheck {
  /** Null: the URL is none. */
  readonly allowed: boolean | null;
  readonly reason: 'robots_denied' | 'url_invalid' | null;
  /** Line of the deciding rule, from 1. */
  readonly line: number | null;
  readonly rule: string | null;
  readonly crawl_delay_s: number | null;
  readonly sitemaps: readonly string[];
  /** Whose rules were used. */
  readonly group: 'named' | 'any' | 'none';
  /** True: the file is larger than a crawl reads, and within what it reads another rule, or none, decides. */
  readonly beyond_limit: boolean;
  /** Lines without effect, and why. */
  readonly ignored: readonly RobotsNote[];
}

/**
 * The answer to one question, over the whole file as it was given.
 *
 * @param options.maxBytes what a crawl reads of a robots.txt (robots.max_size), for `beyond_limit`
 */
export function checkRobots(
  question: RobotsQuestion,
  options: {readonly maxBytes: number; readonly typos: boolean},
): RobotsCheck {
  const bytes =
    question.robots === undefined
      ? Buffer.from(question.robots_base64 ?? '', 'base64')
      : Buffer.from(question.robots, 'utf8');
  const file = parseRobots(bytes, {maxBytes: bytes.length, typos: options.typos});
  const rules = rulesFor(file, question.agent);
  const facts = {
    crawl_delay_s: rules.crawlDelayS,
    sitemaps: sitemapsOf(file, question.url),
    group: rules.group,
    ignored: file.notes,
  };
  if (!question.url.startsWith('/') && parseUrl(question.url) === undefined) {
    return {allowed: null, reason: 'url_invalid', line: null, rule: null, beyond_limit: false, ...facts};
  }
  const answer = isAllowed(rules, question.url);
  let beyond_limit = false;
  if (bytes.length > options.maxBytes) {
    const read = rulesFor(parseRobots(bytes, options), question.agent);
    beyond_limit = isAllowed(read, question.url).line !== answer.line;
  }
  return {...answer, reason: answer.allowed ? null : 'robots_denied', beyond_limit, ...facts};
}
