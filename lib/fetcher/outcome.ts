/**
 * From an exchange to the outcome of a capture. Pure; one table for status codes, one for failures.
 *
 * DESIGN section 5: success and notmodified; redir_temp and redir_perm; gone for what is taken as lasting;
 * retry for what may pass (charged to URL or host, as lib/schema/reason.ts says); skipped for what was not asked.
 */
import type {Exchange, ResponseHead} from '../http/exchange.ts';
import type {Reason} from '../schema/reason.ts';
import type {FetchStatus} from '../schema/status.ts';

export interface Outcome {
  readonly status: FetchStatus;
  readonly reason: Reason | null;
}

/**
 * Outcome of a complete answer.
 * @param conditional the request carried If-None-Match or If-Modified-Since
 * @see RFC 9110, section 15; Nutch protocol-http Http.java for the split of redirects into temporary and permanent
 */
export function outcomeOfStatus(status: number, conditional: boolean): Outcome {
  switch (status) {
    case 304:
      return conditional ? {status: 'notmodified', reason: null} : {status: 'gone', reason: 'http_other'};
    case 301:
    case 308:
      return {status: 'redir_perm', reason: 'redirect'};
    case 302:
    case 303:
    case 307:
      return {status: 'redir_temp', reason: 'redirect'};
    case 404:
      return {status: 'gone', reason: 'http_404'};
    case 410:
      return {status: 'gone', reason: 'http_410'};
    // Request Timeout and Too Early: the same request may do later. RFC 9110, 15.5.9; RFC 8470, 5.2.
    case 408:
    case 425:
      return {status: 'retry', reason: 'http_4xx'};
    case 429:
      return {status: 'retry', reason: 'http_429'};
    case 503:
      return {status: 'retry', reason: 'http_503'};
  }
  if (status >= 200 && status < 300) return {status: 'success', reason: null};
  if (status >= 400 && status < 500) return {status: 'gone', reason: 'http_4xx'};
  if (status >= 500 && status < 600) return {status: 'retry', reason: 'http_5xx'};
  return {status: 'gone', reason: 'http_other'};
}

/** Outcome of an exchange that failed. Reasons that are not listed do not come from exchanges. */
const failures: Partial<Record<Reason, FetchStatus>> = {
  dns: 'retry',
  connect: 'retry',
  connect_timeout: 'retry',
  tls: 'retry',
  timeout: 'retry',
  reset: 'retry',
  http_malformed: 'retry',
  header_limit: 'retry',
  interrupted: 'skipped',
  own_network: 'skipped',
  // Filtered: looked at again as what robots.txt forbids is.
  address_refused: 'gone',
  content_type: 'gone',
  url_invalid: 'gone',
  scheme: 'gone',
};

export function outcomeOf(exchange: Exchange, conditional: boolean): Outcome {
  if (exchange.reason) return {status: failures[exchange.reason] ?? 'retry', reason: exchange.reason};
  if (!exchange.head) return {status: 'retry', reason: 'reset'};
  if (isChallenge(exchange.head)) return {status: 'retry', reason: 'challenge'};
  return outcomeOfStatus(exchange.head.status, conditional);
}

/**
 * Is this answer a known bot challenge? By headers only, which cost nothing and are documented by those who
 * send them: Cloudflare `cf-mitigated: challenge`, AWS WAF `x-amzn-waf-action: challenge|captcha`.
 */
export function isChallenge(head: ResponseHead): boolean {
  for (const [name, value] of head.headers) {
    if (name.length === 12 && /^cf-mitigated$/i.test(name)) return /^\s*challenge\b/i.test(value);
    if (name.length === 17 && /^x-amzn-waf-action$/i.test(name))
      return /^\s*(challenge|captcha)\b/i.test(value);
  }
  return false;
}

/** First value of a header, or null. @param name lower case */
export function header(head: ResponseHead, name: string): string | null {
  for (const [given, value] of head.headers)
    if (given.length === name.length && given.toLowerCase() === name) return value;
  return null;
}

/**
 * Location of a redirect as text. Servers send UTF-8 where the standard wants ASCII; browsers read it as UTF-8,
 * so we do where the bytes are valid UTF-8, else as latin1.
 */
export function locationOf(head: ResponseHead): string | null {
  const raw = header(head, 'location')?.trim();
  if (!raw) return null;
  const text = Buffer.from(raw, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? raw : text;
}

/** Only a redirect asks what is known of its target. */
export function mayRedirect(head: ResponseHead | null): boolean {
  return head !== null && head.status >= 300 && head.status < 400 && head.status !== 304;
}
