import type {Rule} from './rule.ts';
import type {Target} from './target.ts';

/** The first rule of a list that matches. */
export type FirstMatch = (target: Target) => Rule | undefined;

/** Asks one rule after the other: the plain way, for tests to compare with. */
export function firstMatchPlain(rules: readonly Rule[]): FirstMatch {
  return (target) => rules.find((rule) => matches(rule, target));
}

export function matches({match}: Rule, target: Target): boolean {
  switch (match.kind) {
    case 'host':
      return target.host === match.host;
    case 'domain':
      return target.host === match.domain || target.host.endsWith(`.${match.domain}`);
    case 'surt': {
      if (match.below)
        return match.host === '' || target.host === match.host || target.host.endsWith(`.${match.host}`);
      const host = match.www ? target.host : bareHost(target.host);
      return host === match.host && pathAndQuery(target).startsWith(match.path);
    }
    case 'prefix':
      return target.url.startsWith(match.prefix);
    case 'suffix':
      return target.path.toLowerCase().endsWith(match.suffix);
    case 'type':
      return false; // is about answers, and no URL tells
    case 'test':
      return match.test(target);
  }
}

const bareHost = (host: string) => (host.startsWith('www') ? host.replace(/^www\d*\./, '') : host);
const pathAndQuery = ({path, query}: Target) => (query === '' ? path : `${path}?${query}`);

/**
 * The same with look-ups: hosts, domains, SURT prefixes, URL prefixes and suffixes cost the same however many
 * rules there are. Other kinds are asked in turn, and only those before the first match so far.
 */
export function firstMatch(rules: readonly Rule[]): FirstMatch {
  const hosts = new Map<string, number>();
  const domains = new Map<string, number>();
  const surts = new Map<string, number[]>();
  const prefixes = new Map<string, number>();
  const suffixes = new Map<string, number>();
  const tests: number[] = [];
  const first = (map: Map<string, number>, key: string, index: number) => {
    if (!map.has(key)) map.set(key, index);
  };
  for (const [index, {match}] of rules.entries()) {
    if (match.kind === 'host') first(hosts, match.host, index);
    else if (match.kind === 'domain') first(domains, match.domain, index);
    else if (match.kind === 'prefix') first(prefixes, match.prefix, index);
    else if (match.kind === 'suffix') first(suffixes, match.suffix, index);
    else if (match.kind === 'surt' && match.below) {
      if (match.host === '') tests.push(index);
      else first(domains, match.host, index);
    } else if (match.kind === 'surt') {
      const list = surts.get(match.host);
      if (list) list.push(index);
      else surts.set(match.host, [index]);
    } else if (match.kind === 'test') tests.push(index);
  }
  const lengths = (map: Map<string, number>) => [...new Set([...map.keys()].map((key) => key.length))];
  const prefixLengths = lengths(prefixes);
  const suffixLengths = lengths(suffixes);

  return (target) => {
    let best = rules.length;
    const offer = (index: number | undefined) => {
      if (index !== undefined && index < best) best = index;
    };
    const {host, url, path} = target;
    if (hosts.size > 0) offer(hosts.get(host));
    if (domains.size > 0) {
      offer(domains.get(host));
      for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1))
        offer(domains.get(host.slice(dot + 1)));
    }
    if (surts.size > 0) {
      const bare = bareHost(host);
      const where = pathAndQuery(target);
      for (const name of bare === host ? [host] : [host, bare])
        for (const index of surts.get(name) ?? []) {
          if (index >= best) break;
          const {match} = rules[index]!;
          if (match.kind === 'surt' && name === (match.www ? host : bare) && where.startsWith(match.path)) {
            best = index;
            break;
          }
        }
    }
    for (const length of prefixLengths) if (url.length >= length) offer(prefixes.get(url.slice(0, length)));
    if (suffixLengths.length > 0) {
      const lower = path.toLowerCase();
      for (const length of suffixLengths)
        if (lower.length >= length) offer(suffixes.get(lower.slice(lower.length - length)));
    }
    for (const index of tests) {
      if (index >= best) break;
      if (matches(rules[index]!, target)) best = index;
    }
    return rules[best];
  };
}
