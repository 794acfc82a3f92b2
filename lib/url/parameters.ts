import {ownCopy} from './own-copy.ts';
import {sessionParameters} from './session.ts';
import {trackingParameters} from './tracking.ts';

/** Says for each query parameter whether it stays. */
export type DropParameter = (name: string, value: string) => boolean;

/** A set of lower-case names, of which some end in `*`. */
export function nameSet(names: Iterable<string>): (name: string) => boolean {
  const exact = new Set<string>();
  const prefixes: string[] = [];
  for (const name of names) {
    if (name.endsWith('*')) prefixes.push(name.slice(0, -1).toLowerCase());
    else exact.add(name.toLowerCase());
  }
  return (name) => {
    if (exact.has(name)) return true;
    for (const prefix of prefixes) if (name.startsWith(prefix)) return true;
    return false;
  };
}

export interface ParameterPolicy {
  readonly tracking: boolean;
  readonly sessionIds: boolean;
  readonly strip: readonly string[];
  readonly keep: readonly string[];
}

/** Which step removes the parameter, or undefined where it stays. */
export type ParameterStep = 'tracking_parameters' | 'session_ids' | 'strip_parameters';

/** Verdicts on names that are remembered. Chosen: more than the parameters of any one site. */
const maxRemembered = 10_000;

/**
 * Decides on parameters, by name and value as they stand in the query.
 *
 * `keep` comes first, so that a name on any list can be kept.
 */
export function parameterJudge(policy: ParameterPolicy): {
  readonly judge: (name: string, value: string) => ParameterStep | undefined;
  readonly mayDrop: (name: string) => boolean;
} {
  const kept = nameSet(policy.keep);
  const stripped = nameSet(policy.strip);
  const tracking = nameSet(policy.tracking ? Object.keys(trackingParameters) : []);
  const decide = (name: string): ParameterStep | 'by value' | 'stays' => {
    const lower = name.toLowerCase();
    if (kept(lower)) return 'stays';
    if (stripped(lower)) return 'strip_parameters';
    if (tracking(lower)) return 'tracking_parameters';
    return policy.sessionIds && sessionParameters.some((session) => session.name.test(lower))
      ? 'by value'
      : 'stays';
  };
  const known = new Map<string, ParameterStep | 'by value' | 'stays'>();
  const verdictOn = (name: string) => {
    let verdict = known.get(name);
    if (verdict === undefined) {
      verdict = decide(name);
      if (known.size >= maxRemembered) known.clear();
      if (name.length <= 64) known.set(ownCopy(name), verdict);
    }
    return verdict;
  };
  return {
    judge(name, value) {
      const verdict = verdictOn(name);
      if (verdict === 'stays') return undefined;
      if (verdict !== 'by value') return verdict;
      const lower = name.toLowerCase();
      return sessionParameters.some((session) => session.name.test(lower) && session.value.test(value))
        ? 'session_ids'
        : undefined;
    },
    mayDrop: (name) => verdictOn(name) !== 'stays',
  };
}

/** The query without the parameters that `drop` names; the others stay in place, empty ones too. */
export function filterQuery(query: string, drop: DropParameter): string {
  let out: string[] | undefined;
  const parts = query.split('&');
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const eq = part.indexOf('=');
    const gone = part !== '' && drop(eq < 0 ? part : part.slice(0, eq), eq < 0 ? '' : part.slice(eq + 1));
    if (gone) out ??= parts.slice(0, i);
    else out?.push(part);
  }
  return out === undefined ? query : out.join('&');
}

/** The query sorted by name; parameters of one name keep their order, which may matter. */
export function sortQuery(query: string): string {
  if (!query.includes('&')) return query;
  const named = query.split('&').map((part) => {
    const eq = part.indexOf('=');
    return {part, name: eq < 0 ? part : part.slice(0, eq)};
  });
  named.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return named.map(({part}) => part).join('&');
}
