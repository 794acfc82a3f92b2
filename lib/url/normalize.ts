import type {Reason} from '../schema/reason.ts';
import {maxInput, type ParsedBase, parseBase} from './base.ts';
import {alreadyNormal, joinSimply} from './fast.ts';
import {maxHost, maxLabel} from './host.ts';
import {parseUrl} from './parse.ts';
import type {UrlPolicy} from './policy.ts';
import {joinParts, partsOf, steps} from './steps.ts';

export {type ParsedBase, parseBase} from './base.ts';
export {type UrlPolicy, urlPolicy, urlPolicyVersion} from './policy.ts';

/**
 * Brings a URL to its one form: the WHATWG parser, then the steps of steps.ts, then the rules of the file
 * `url.rules`. Idempotent by construction: what the rules change goes through everything again until
 * nothing changes. Total: any string is a URL or a reason.
 *
 * Steps are for http and https. URLs of other schemes lose their fragment, and the scope refuses them.
 */
export type NormalizeResult = {readonly url: string} | {readonly reason: Reason; readonly detail: string};

/** Most passes until nothing changes. Chosen: rules that need more are rules that feed each other. */
const maxPasses = 8;

/** One step that changed something, and the URL after it. */
export interface UrlStep {
  readonly name: string;
  readonly url: string;
}

/**
 * The normalized URL, or why there is none.
 *
 * @param base URL of the page that the link is in: what relative links are relative to
 */
export function normalizeUrl(input: string, policy: UrlPolicy, base?: string | ParsedBase): NormalizeResult {
  const everywhere = policy.everywhere;
  if (everywhere === undefined) return normalizePlain(input, policy, base);
  const parsedBase = typeof base === 'string' ? parseBase(base) : base;
  let normal = input.startsWith('http') ? alreadyNormal(input, policy, everywhere) : undefined;
  if (normal === undefined && parsedBase !== undefined) {
    const joined = joinSimply(input, parsedBase);
    if (joined !== undefined) normal = alreadyNormal(joined, policy, everywhere);
  }
  if (normal === undefined || input.length > maxInput) return normalizePlain(input, policy, parsedBase);
  return checkLength(normal, policy);
}

/** As {@link normalizeUrl}, with every step that changed something. */
export function explainUrl(
  input: string,
  policy: UrlPolicy,
  base?: string | ParsedBase,
): {readonly steps: readonly UrlStep[]; readonly result: NormalizeResult} {
  const trace: UrlStep[] = [];
  const result = normalizePlain(input, policy, base, trace);
  return {steps: trace, result};
}

/** The plain way, which every fast one must agree with. */
export function normalizePlain(
  input: string,
  policy: UrlPolicy,
  base?: string | ParsedBase,
  trace?: UrlStep[],
): NormalizeResult {
  if (input.length > maxInput) return {reason: 'url_too_long', detail: `${input.length} characters`};
  const parsedBase = typeof base === 'string' ? parseBase(base) : base;
  let url = parseUrl(input, parsedBase?.url);
  if (url === undefined)
    return {
      reason: 'url_invalid',
      detail: base === undefined || parsedBase?.url ? 'not a URL' : 'not a URL without a base',
    };
  if (trace && url.href !== input) trace.push({name: 'parse', url: url.href});

  for (let pass = 0; pass < maxPasses; pass++) {
    const before = url.href;
    const after = onePass(url, policy, trace);
    if ('reason' in after) return after;
    if (after.url === before) return checkLength(before, policy);
    // What a pass made is parsed again: a step may have left a dot segment, a rule anything.
    url = parseUrl(after.url);
    if (url === undefined)
      return {reason: 'url_invalid', detail: `not a URL after the rules: ${after.url.slice(0, 200)}`};
    if (trace && url.href !== after.url) trace.push({name: 'parse', url: url.href});
    // What the parser takes back (a rule that removes the slash of `http://a.org/`) changes nothing.
    if (url.href === before) return checkLength(before, policy);
  }
  return {
    reason: 'url_invalid',
    detail: `still changing after ${maxPasses} passes: ${url.href.slice(0, 200)}`,
  };
}

function checkLength(url: string, policy: UrlPolicy): NormalizeResult {
  return url.length > policy.maxLength ? tooLong(url, policy) : {url};
}

function tooLong(url: string, policy: UrlPolicy): NormalizeResult {
  return {
    reason: 'url_too_long',
    detail: `${url.length} characters, url.max_length is ${policy.maxLength}`,
  };
}

function onePass(url: URL, policy: UrlPolicy, trace: UrlStep[] | undefined): NormalizeResult {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const hash = url.href.indexOf('#');
    if (hash < 0) return {url: url.href};
    // A path that is no hierarchy may end in spaces before its fragment, which the parser would trim next time.
    const bare = url.href.slice(0, hash).trimEnd();
    trace?.push({name: 'fragment', url: bare});
    return {url: bare};
  }
  const parts = partsOf(url);
  const host = policy.forHost(parts.host);
  let now = url.href;
  for (const step of steps) {
    step.run(parts, policy, host);
    if (trace) {
      const next = joinParts(parts);
      if (next !== now) trace.push({name: step.name, url: next});
      now = next;
    }
  }
  const problem = hostProblem(parts.host);
  if (problem !== undefined) return {reason: 'url_invalid', detail: problem};
  now = joinParts(parts);
  // Replacing all matches may take time by the square of the length, whatever the engine: only what can be a URL
  // of this crawl is worth it.
  if (host.replacements.length > 0 && now.length > policy.maxLength) return tooLong(now, policy);
  for (const rule of host.replacements) {
    const next = rule.pattern.replace(now, rule.with);
    if (next === now) continue;
    if (next.length > maxInput)
      return {reason: 'url_invalid', detail: `grows without end by the rule at ${rule.file}:${rule.line}`};
    now = next;
    trace?.push({name: `rule ${rule.file}:${rule.line}`, url: now});
  }
  return {url: now};
}

const longLabel = new RegExp(`[^.]{${maxLabel + 1}}`);

/** What makes a host no name in the DNS, although the parser takes it; text with gaps to fill in (`http://$host/`), mostly. */
function hostProblem(host: string): string | undefined {
  if (host.startsWith('[')) return undefined;
  if (/[^a-z0-9._-]/.test(host)) return 'the host has a character that no name has';
  if (/^\.|\.\.|\.$|^$/.test(host)) return 'the host has an empty label';
  if (host.length > maxHost || longLabel.test(host)) return 'the host is longer than a name can be';
  return undefined;
}
