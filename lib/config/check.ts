import {isIP} from 'node:net';
import {formatValue} from '../kinds.ts';
import type {OptionDeclaration} from '../options.ts';
import {linkKinds} from '../schema/outlinks.ts';
import {weightProblem} from '../score/score.ts';
import {shareProblem} from '../selection/shares.ts';
import {credentialOrigin, isHostPattern, proxyAddress, secretReference} from './references.ts';
import {type Config, settings} from './settings.ts';

export interface RelationProblem {
  /** The settings concerned, as `schedule.min_interval`. */
  readonly settings: readonly string[];
  readonly problem: string;
}

/** Pairs where the first may not be more than the second. */
const ordered: readonly (readonly [string, string])[] = [
  ['schedule.min_interval', 'schedule.interval'],
  ['schedule.interval', 'schedule.max_interval'],
  ['politeness.backoff', 'politeness.max_backoff'],
  ['politeness.error_backoff', 'politeness.max_error_backoff'],
  ['politeness.min_delay', 'politeness.max_crawl_delay'],
  ['robots.max_age', 'robots.last_good'],
];

/** What is wrong between settings, each of which is right by itself. */
export function checkRelations(config: Config): RelationProblem[] {
  const problems: RelationProblem[] = [];
  const report = (setting: string, problem: string) => problems.push({settings: [setting], problem});
  for (const [low, high] of ordered) {
    const [a, b] = [settingOf(config, low), settingOf(config, high)];
    if (typeof a === 'number' && typeof b === 'number' && a > b)
      problems.push({
        settings: [low, high],
        problem: `${low} ${show(low, a)} is more than ${high} ${show(high, b)}`,
      });
  }
  // RFC 9309, 2.2.1: a product token holds letters, "_" and "-" only
  if (!/^[a-zA-Z_-]+$/.test(config.agent.name))
    report('agent.name', `${config.agent.name} is no product token: letters, - and _ only (RFC 9309, 2.2.1)`);
  const contact = config.agent.contact;
  if (contact !== undefined && !/^(https?:\/\/[^\s()<>]+|[^\s@()<>]+@[^\s@()<>]+)$/.test(contact))
    report('agent.contact', `${contact} is neither a URL (https://…) nor an e-mail address`);
  for (const key of ['accept', 'accept_language', 'accept_encoding'] as const)
    if (!/^[\x20-\x7e]+$/.test(config.fetch[key]))
      report(`fetch.${key}`, 'a header holds printable ASCII characters only');
  for (const range of config.network.allow)
    if (!isRange(range)) report('network.allow', `${range} is no address range, as 127.0.0.0/8 or ::1`);
  for (const server of config.network.dns_servers)
    if (isIP(server.replace(/^\[(.*)\](:\d+)?$/, '$1')) === 0 && isIP(server.replace(/:\d+$/, '')) !== 4)
      report(
        'network.dns_servers',
        `${server} is no address, as 192.0.2.1, 192.0.2.1:53 or [2001:db8::1]:53`,
      );
  for (const [from, to] of Object.entries(config.network.connect_to))
    for (const side of [from, to])
      if (!/^.*:(\d{1,5}|\*)$/.test(side)) report('network.connect_to', `${side} is not host:port`);
  checkProxies(config, report);
  checkCredentials(config, report);
  for (const scheme of config.scope.schemes)
    if (scheme !== 'http' && scheme !== 'https')
      report('scope.schemes', `${scheme} is neither http nor https`);
  for (const [name, weight] of Object.entries(config.generate.shares)) {
    const problem = shareProblem(name, weight);
    if (problem !== undefined) report('generate.shares', problem);
  }
  for (const [name, weight] of Object.entries(config.score.weights)) {
    const problem = weightProblem(name, weight);
    if (problem !== undefined) report('score.weights', problem);
  }
  const {max_per_host, max_per_domain} = config.generate;
  if (max_per_domain !== undefined && max_per_domain < max_per_host)
    problems.push({
      settings: ['generate.max_per_domain', 'generate.max_per_host'],
      problem: `generate.max_per_host ${max_per_host} is more than generate.max_per_domain ${max_per_domain}: a host is part of its domain`,
    });
  for (const kind of config.links.follow)
    if (!(linkKinds as readonly string[]).includes(kind))
      report('links.follow', `${kind} is none of: ${linkKinds.join(', ')}`);
  return problems;
}

type Report = (setting: string, problem: string) => void;

function checkProxies({network}: Config, report: Report): void {
  // What is no proxy is not shown: it may hold a password.
  const form = 'not http://host:port or https://host:port; user and password belong into credentials.proxy';
  if (network.proxy !== undefined && proxyAddress(network.proxy) === undefined)
    report('network.proxy', `it is ${form}`);
  for (const [pattern, proxy] of Object.entries(network.proxy_rules)) {
    if (!isHostPattern(pattern))
      report('network.proxy_rules', `${pattern} is no host, as example.org, *.example.org or *`);
    if (proxy !== 'direct' && proxyAddress(proxy) === undefined)
      report('network.proxy_rules', `the proxy of ${pattern} is neither direct nor a proxy: ${form}`);
  }
  for (const host of network.unverified_hosts)
    if (!isHostPattern(host) || host.includes('*'))
      report('network.unverified_hosts', `${host} is no host name, as intranet.example.org`);
}

/** Values are not shown: they may be the secrets that do not belong here. */
function checkCredentials({credentials}: Config, report: Report): void {
  for (const key of ['basic', 'headers', 'proxy'] as const) {
    const seen = new Set<string>();
    for (const [where, reference] of Object.entries(credentials[key])) {
      const setting = `credentials.${key}`;
      const origin =
        key === 'proxy' ? proxyAddress(`http://${where}`)?.name : credentialOrigin(where.toLowerCase());
      if (origin === undefined)
        report(
          setting,
          key === 'proxy'
            ? 'a key is not host:port of a proxy'
            : 'a key is neither a host, as example.org or example.org:8443, nor an origin, as http://example.org',
        );
      else if (seen.has(origin)) report(setting, `${origin} is there twice`);
      else seen.add(origin);
      if (secretReference(reference) === undefined)
        report(
          setting,
          `a value is neither env:NAME nor file:PATH; secrets do not stand in the configuration`,
        );
    }
  }
}

function settingOf(config: Config, name: string): unknown {
  const [section = '', key = ''] = name.split('.');
  // Names come from the list above, which a test holds against the declarations
  return (config as unknown as Record<string, Record<string, unknown>>)[section]?.[key];
}

function show(name: string, value: number): string {
  const [section = '', key = ''] = name.split('.');
  const declaration = (settings as Readonly<Record<string, Readonly<Record<string, OptionDeclaration>>>>)[
    section
  ]![key]!;
  return formatValue(declaration, value);
}

function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
