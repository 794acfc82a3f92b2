import type {FamilyRow, FamilyRuleRow} from '../schema/families.ts';
import type {Scope} from '../scope/scope.ts';
import {type Family, familiesOf, familyKey} from './family.ts';

/** Which families are closed, and to whom. */
export interface Quarantine {
  /** Places of closed families: URLs of others need not be asked about. */
  readonly places: ReadonlySet<string>;
  /** The closed family that a URL belongs to, the narrowest; undefined where it may be added and selected. */
  closes(url: string): Family | undefined;
}

export type ClosedFamily = Pick<FamilyRow, 'place' | 'pattern' | 'probe_time'>;
export type FamilyRule = Pick<FamilyRuleRow, 'place' | 'pattern' | 'action'>;

/** URLs of a quarantined family that are tried when its time has come. */
export const probePages = 20;

/**
 * @param rules by hand, which win over what was found
 * @param probeAt families whose time of probing has come by then let through {@link probePages} URLs, those asked about
 * first; null for none
 */
export function makeQuarantine(
  quarantined: readonly ClosedFamily[],
  rules: readonly FamilyRule[],
  probeAt: number | null,
): Quarantine {
  const closed = new Map<string, {readonly tried: Set<string> | null}>();
  for (const family of quarantined) {
    const probing = probeAt !== null && family.probe_time !== null && family.probe_time.getTime() <= probeAt;
    closed.set(familyKey(family), {tried: probing ? new Set() : null});
  }
  const released = new Set<string>();
  for (const rule of rules) {
    const key = familyKey(rule);
    if (rule.action === 'block') closed.set(key, {tried: null});
    else {
      closed.delete(key);
      released.add(key);
    }
  }
  const places = new Set([...closed.keys()].map((key) => key.slice(0, key.indexOf(' '))));
  return {
    places,
    closes(url) {
      if (places.size === 0) return undefined;
      for (const family of familiesOf(url)) {
        const key = familyKey(family);
        if (released.has(key)) return undefined; // what a person let through is not held by a wider family
        const held = closed.get(key);
        if (held === undefined) continue;
        if (held.tried === null) return family;
        if (!held.tried.has(url) && held.tried.size >= probePages) return family;
        held.tried.add(url);
      }
      return undefined;
    },
  };
}

/** A scope that refuses what is in quarantine, too. Seeds are never refused. */
export function withQuarantine(scope: Scope, quarantine: Quarantine): Scope {
  if (quarantine.places.size === 0) return scope;
  return {
    ...scope,
    check(link) {
      const verdict = scope.check(link);
      if (!verdict.accepted || link.hopType === 'I') return verdict;
      const family = quarantine.closes(link.url);
      return family === undefined
        ? verdict
        : {accepted: false, reason: 'trap', rule: `crawl traps: ${familyKey(family)}`};
    },
  };
}
