import type {Reason} from '../schema/reason.ts';
import type {HopType} from '../schema/status.ts';
import {normalizeUrl, type UrlPolicy} from '../url/normalize.ts';
import type {Scope, Stay} from './scope.ts';

/** One question of `crawl check scope`. URLs are normalized first. */
export interface ScopeQuestion {
  /** May be relative to `from`. */
  readonly url: string;
  /** Page that links to it. */
  readonly from?: string | null;
  readonly seed?: string | null;
  /** Links from the seed. Absent: 1 for a link, 0 for a seed. */
  readonly depth?: number | null;
  /** How it is reached. Absent: a link where `from`, `seed` or `depth` is given, else a seed. */
  readonly hop?: HopType | null;
  /** What the seed line says of its scope. */
  readonly stay?: Stay | null;
}

export interface ScopeCheck {
  readonly accepted: boolean;
  readonly reason: Reason | null;
  /** The deciding rule or setting; null where the last word (`scope.otherwise`) accepted. */
  readonly rule: string | null;
  readonly file: string | null;
  /** From 1. */
  readonly line: number | null;
  /** The normalized URL that was asked about; null where there is none. */
  readonly url: string | null;
}

export function checkScope(question: ScopeQuestion, policy: UrlPolicy, scope: Scope): ScopeCheck {
  const from = normalOf(question.from, policy);
  const seed = normalOf(question.seed, policy);
  for (const [name, text, known] of [
    ['from', question.from, from],
    ['seed', question.seed, seed],
  ] as const)
    if (text !== undefined && text !== null && known === undefined)
      return {...nothing, reason: 'url_invalid', rule: `${name} is not a URL`};
  const result = normalizeUrl(question.url, policy, from);
  if (!('url' in result)) return {...nothing, reason: result.reason, rule: result.detail};
  const linked = from !== undefined || seed !== undefined || (question.depth ?? 0) > 0;
  const hopType = question.hop ?? (linked ? 'L' : 'I');
  const verdict = scope.check({
    url: result.url,
    depth: question.depth ?? (hopType === 'I' ? 0 : 1),
    hopType,
    seed: seed ?? null,
    seedScope: question.stay ?? null,
    ...(from === undefined ? {} : {from}),
  });
  const {file = null, line = null} = verdict;
  const place = file === null ? '' : line === null ? `${file}: ` : `${file}:${line}: `;
  const rule =
    verdict.rule === undefined ? null : verdict.rule.slice(verdict.rule.startsWith(place) ? place.length : 0);
  return {
    accepted: verdict.accepted,
    reason: verdict.accepted ? null : verdict.reason,
    rule,
    file,
    line,
    url: result.url,
  };
}

const nothing: ScopeCheck = {accepted: false, reason: null, rule: null, file: null, line: null, url: null};

/** A page or seed as the crawl knows it; undefined for a text that is no URL. */
function normalOf(url: string | null | undefined, policy: UrlPolicy): string | undefined {
  if (url === undefined || url === null) return undefined;
  const result = normalizeUrl(url, policy);
  return 'url' in result ? result.url : undefined;
}
