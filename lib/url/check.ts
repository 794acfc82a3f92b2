import type {Reason} from '../schema/reason.ts';
import {hostOf, registeredDomain} from './host.ts';
import {explainUrl, parseBase, type UrlPolicy, type UrlStep} from './normalize.ts';
import {parseUrl} from './parse.ts';
import {surt} from './surt.ts';

/** One question of `crawl check url`. */
export interface UrlQuestion {
  readonly url: string;
  /** Base of a relative URL. */
  readonly base?: string | null;
}

export interface UrlCheck {
  /** What the WHATWG parser alone makes of it; null where it is no URL. */
  readonly resolved: string | null;
  /** Normalized by the policy; null where the reason says why not. */
  readonly url: string | null;
  readonly reason: Reason | null;
  readonly detail: string | null;
  readonly surt: string | null;
  readonly host: string | null;
  readonly domain: string | null;
  /** Each step that changed something, and the URL after it. */
  readonly steps: readonly UrlStep[];
}

/** The answer to one question, with each step. Schemes that are not crawled have an answer too. */
export function checkUrl({url: input, base}: UrlQuestion, policy: UrlPolicy): UrlCheck {
  const parsedBase = base === undefined || base === null ? undefined : parseBase(base);
  const resolved = parseUrl(input, parsedBase?.url)?.href ?? null;
  const {steps, result} = explainUrl(input, policy, parsedBase);
  if (!('url' in result))
    return {
      resolved,
      url: null,
      reason: result.reason,
      detail: result.detail,
      surt: null,
      host: null,
      domain: null,
      steps,
    };
  const host = hostOf(result.url);
  return {
    resolved,
    url: result.url,
    reason: null,
    detail: null,
    surt: surt(result.url),
    host: host === '' ? null : host,
    domain: host === '' ? null : registeredDomain(host),
    steps,
  };
}
