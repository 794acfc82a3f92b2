import type {Reason} from '../schema/reason.ts';
import type {Scope, Stay} from '../scope/scope.ts';
import {normalizeUrl, type UrlPolicy} from '../url/normalize.ts';
import type {Outcome} from './outcome.ts';
import type {WorkItem} from './worklist.ts';

/** What a redirect comes to. */
export interface RedirectDecision extends Outcome {
  /** Normalized target; null where there is none. */
  readonly target: string | null;
  readonly detail: string | null;
  /** The target may be asked for as the next hop, if its host belongs to this fetch. */
  readonly follow: boolean;
}

export interface RedirectRules {
  readonly urlPolicy: UrlPolicy;
  readonly scope: Pick<Scope, 'check'>;
  readonly maxRedirects: number;
  readonly seedScopes: ReadonlyMap<string, Stay> | undefined;
}

/**
 * Outcome of a redirect answer to a page or hop. Pure.
 *
 * A redirect into its own chain, too many in a row, and one without a usable target are gone. One that the
 * scope rejects stays a redirect, with the reason, and is not followed.
 */
export function decideRedirect(
  item: WorkItem,
  outcome: Outcome,
  location: string | null,
  rules: RedirectRules,
): RedirectDecision {
  const gone = (reason: Reason, target: string | null, detail: string | null): RedirectDecision => ({
    status: 'gone',
    reason,
    target,
    detail,
    follow: false,
  });
  if (location === null) return gone('redirect_malformed', null, 'no Location');
  const normalized = normalizeUrl(location, rules.urlPolicy, item.url);
  if ('reason' in normalized) return gone('redirect_malformed', null, `${normalized.reason}: ${location}`);
  const target = normalized.url;
  if (target === item.url || item.chain.includes(target)) return gone('redirect_loop', target, null);
  if (item.hop >= rules.maxRedirects) return gone('redirect_limit', target, `${item.hop + 1} in a row`);
  const verdict = rules.scope.check({
    url: target,
    depth: item.depth,
    hopType: 'R',
    from: item.url,
    seed: item.seed,
    seedScope: item.seed === null ? null : (rules.seedScopes?.get(item.seed) ?? null),
  });
  if (!verdict.accepted) {
    const {rule} = verdict; // names file and line already
    return {
      status: outcome.status,
      reason: 'redirect_out_of_scope',
      target,
      detail: rule ? `${verdict.reason}: ${rule}` : verdict.reason,
      follow: false,
    };
  }
  return {...outcome, target, detail: null, follow: true};
}
