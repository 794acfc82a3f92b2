import type {HostRuleRow} from '../schema/hostdb.ts';

/**
 * Rules by hand, and which of them hold for a host. A rule is about
 * - one host: `www.example.org`;
 * - a domain, that is itself and every host below it: `.example.org`;
 * - hosts of a pattern, in which `*` stands for any text, dots included: `shop-*.example.*`.
 *
 * The narrowest rule that says something of a matter decides it: that of the host itself, then those whose text without
 * `*` is longest; at equal length the order of the texts decides.
 */
export type HostRule = Pick<
  HostRuleRow,
  | 'url_host_name'
  | 'min_delay_ms'
  | 'blocked'
  | 'unblocked'
  | 'max_connections'
  | 'hours'
  | 'max_rate'
  | 'max_bandwidth'
>;

export type RuleAbout = NonNullable<HostRuleRow['applies_to']>;

/** What the text of a rule is about. */
export function ruleAbout(text: string): RuleAbout {
  if (text.includes('*')) return 'pattern';
  return text.startsWith('.') ? 'domain' : 'host';
}

/** What holds for one host, of all rules. */
export type HeldRule = Omit<HostRule, 'url_host_name' | 'unblocked'>;

export class HostRules<R extends HostRule = HostRule> {
  readonly #hosts = new Map<string, R>();
  readonly #domains = new Map<string, R>();
  readonly #patterns: R[] = [];

  constructor(rules: readonly R[]) {
    for (const rule of rules) {
      const about = ruleAbout(rule.url_host_name);
      if (about === 'pattern') this.#patterns.push(rule);
      else (about === 'host' ? this.#hosts : this.#domains).set(rule.url_host_name, rule);
    }
  }

  /** Is there a rule about more than one host? */
  get wide(): boolean {
    return this.#domains.size > 0 || this.#patterns.length > 0;
  }

  /** All rules about the host, the narrowest first. */
  about(host: string): R[] {
    const own = this.#hosts.get(host);
    const wide = this.#patterns.filter((rule) => matchesPattern(rule.url_host_name, host));
    if (this.#domains.size > 0)
      for (const domain of domainsOf(host)) {
        const rule = this.#domains.get(domain);
        if (rule) wide.push(rule);
      }
    wide.sort((a, b) => narrowness(b) - narrowness(a) || (a.url_host_name < b.url_host_name ? -1 : 1));
    return own === undefined ? wide : [own, ...wide];
  }

  /** What holds for the host; null: no rule is about it. */
  of(host: string): HeldRule | null {
    const own = this.#hosts.get(host);
    if (!this.wide) return own === undefined ? null : held([own]);
    const rules = this.about(host);
    return rules.length === 0 ? null : held(rules);
  }
}

/** What rules say together, the first that says something of a matter deciding it. */
export function held(rules: readonly HostRule[]): HeldRule {
  const first = <K extends Exclude<keyof HeldRule, 'blocked'>>(name: K): HeldRule[K] | null =>
    rules.find((rule) => rule[name] !== null)?.[name] ?? null;
  return {
    blocked: rules.find(({blocked, unblocked}) => blocked || unblocked)?.blocked ?? false,
    min_delay_ms: first('min_delay_ms'),
    max_connections: first('max_connections'),
    hours: first('hours'),
    max_rate: first('max_rate'),
    max_bandwidth: first('max_bandwidth'),
  };
}

/** Is the host one of those that the text of a rule is about? */
export function isAbout(text: string, host: string): boolean {
  const about = ruleAbout(text);
  if (about === 'pattern') return matchesPattern(text, host);
  return about === 'host' ? text === host : `.${host}`.endsWith(text);
}

/** `.www.example.org`, `.example.org`, `.org`. */
function domainsOf(host: string): string[] {
  const domains = [`.${host}`];
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) domains.push(host.slice(dot));
  return domains;
}

function narrowness({url_host_name}: HostRule): number {
  return url_host_name.replaceAll('*', '').length;
}

/** In time of the lengths' product at most: at a mismatch the last `*` takes one more character. */
function matchesPattern(pattern: string, host: string): boolean {
  let at = 0;
  let star = -1;
  let from = 0;
  for (let i = 0; i < host.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      from = i;
    } else if (pattern[at] === host[i]) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++from;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
