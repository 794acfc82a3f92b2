import {CrawlError} from '../errors.ts';
import type {Target} from './target.ts';

/** One rule of a list: what it decides, where it stands, and how it is looked up. */
export interface Rule {
  readonly accept: boolean;
  /** The rule as written. */
  readonly text: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly match: Match;
}

/** Kinds that are found by a look-up, and `test` for those that are asked in turn. */
export type Match =
  | {readonly kind: 'host'; readonly host: string}
  | {readonly kind: 'domain'; readonly domain: string}
  | {
      readonly kind: 'surt';
      readonly host: string;
      readonly below: boolean;
      readonly www: boolean;
      readonly path: string;
    }
  | {readonly kind: 'prefix'; readonly prefix: string}
  /** Lower case. */
  | {readonly kind: 'suffix'; readonly suffix: string}
  /** Of a media type, not of a URL: `video/mp4`, or `video/` with `prefix`. */
  | {readonly kind: 'type'; readonly type: string; readonly prefix: boolean}
  | {readonly kind: 'test'; readonly test: (target: Target) => boolean};

/** Rule with its place, as verdicts name it. */
export function nameRule(rule: {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}): string {
  return `${rule.file}:${rule.line}: ${rule.text}`;
}

export function badRule(file: string, line: number, problem: string, text: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', `${file}:${line}: ${problem}: ${text.slice(0, 200)}`, {
    facts: {file, line, rule: text.slice(0, 200)},
    hint: 'A rule is + or -, a kind and a value, as: - suffix .zip',
  });
}
