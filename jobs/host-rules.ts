import {CrawlError} from '../lib/errors.ts';
import {HostRules, ruleAbout} from '../lib/fetcher/host-rules.ts';
import {hoursForm, hoursOf} from '../lib/fetcher/hours.ts';
import type {OptionValues} from '../lib/options.ts';
import {type HostRuleRow, hostrules} from '../lib/schema/hostdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {readTable} from '../lib/store/parquet-read.ts';
import {hostKey} from '../lib/url/keys.ts';
import {readPolicies} from './config/policies.ts';
import {ruleTargetOf, ruleTargetOptions} from './host/name.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';

const options = {
  host: {kind: 'text', doc: 'Host that the rule is about.'},
  ...ruleTargetOptions,
  delay: {
    kind: 'duration',
    min: 0,
    max: 86_400_000, // chosen: a host that may be asked less than once a day is better blocked
    doc: 'Least delay, in place of politeness.min_delay. Crawl-delay, Retry-After and back-off hold all the same.',
  },
  block: {
    kind: 'flag',
    default: false,
    doc: 'Ask nothing of the host; its URLs end as host_blocked, and no new ones are added.',
  },
  unblock: {
    kind: 'flag',
    default: false,
    doc: 'Take a block back; where a wider rule blocks it, except it from that.',
  },
  maxConnections: {
    kind: 'count',
    min: 1,
    max: 100, // chosen: what politeness.max_per_host is for, with room
    doc: 'Requests at once, in place of politeness.max_per_host.',
  },
  hours: {
    kind: 'text',
    doc: 'Hours of the day, UTC, in which the host is asked, as `22:00-06:00`; fetch.hours holds as well.',
  },
  maxRate: {kind: 'rate', doc: 'Most requests a second, in place of politeness.max_rate_per_host.'},
  maxBandwidth: {
    kind: 'rate',
    doc: 'Most payload bytes a second, in place of politeness.max_bandwidth_per_host.',
  },
  note: {kind: 'text', doc: 'Why, for the next person.'},
  clear: {
    kind: 'flag',
    default: false,
    doc: 'Forget the rule; with other options, what it said before.',
  },
} as const;
type HostRuleOptions = OptionValues<typeof options>;

/** What a rule says, whenever it was made. */
export type HostRuleText = Omit<HostRuleRow, 'url_host_name' | 'host_key' | 'changed_time' | 'applies_to'>;
const noRule: HostRuleText = {
  min_delay_ms: null,
  blocked: false,
  max_connections: null,
  note: null,
  hours: null,
  max_rate: null,
  max_bandwidth: null,
  unblocked: null,
};

/**
 * Rules by hand about a host, a domain or a pattern. What is not said stays as it was; a rule that says nothing any more
 * is none. Needs no lock: of two at once the later one is planned again, and a running fetch reads the table when it has
 * changed.
 */
export const hostRules = defineJob({
  name: 'host',
  summary: 'Show what is known of a host, or set rules by hand for it.',
  options,
  locks: () => [],

  async plan(given, effects) {
    const {snapshot, config, store} = effects;
    const {policy} = await readPolicies(store.dir, config);
    const host = ruleTargetOf(given, policy);
    checkHostRule(given);
    const inputs = await snapshot.files('hostrules');
    const rules = await readRules(inputs, (file) => store.path(file));
    const before = rules.get(host) ?? noRule;
    if (sameRule(before, ruleAfter(before, given, isBlockedWidely(rules, host)))) {
      effects.log('info', 'host_rule_unchanged', {host});
      return undefined;
    }
    const now = effects.now();
    return {
      base: snapshot.manifest.number,
      now,
      tasks: [{stage: 0, part: 0, inputs, params: {host, change: changeOf(given), now}}],
    };
  },

  run: writeRules,

  next(_plan, _stage, results) {
    const files = results.flatMap((result) => result.files);
    // An empty list, not none: the version of the slot must rise, since a running fetch looks at it
    return {edit: {reads: ['hostrules'], writes: {hostrules: files}}};
  },
});

/** Throws USAGE for options that contradict each other. True: there is something to set. */
export function checkHostRule({
  block,
  unblock,
  clear,
  delay,
  maxConnections,
  hours,
  maxRate,
  maxBandwidth,
  note,
}: HostRuleOptions): boolean {
  if (block && unblock) throw new CrawlError('USAGE', '--block and --unblock exclude each other');
  if (hours !== undefined && hoursOf(hours) === null)
    throw new CrawlError('USAGE', `--hours ${hours} is not ${hoursForm}`);
  for (const [name, value] of Object.entries({'max-rate': maxRate, 'max-bandwidth': maxBandwidth}))
    if (value === 0) throw new CrawlError('USAGE', `--${name} 0 would ask nothing; --block says that`);
  const values = [delay, maxConnections, hours, maxRate, maxBandwidth, note];
  return block || unblock || clear || values.some((value) => value !== undefined);
}

/** The options alone, as plain data of the task. */
function changeOf({
  delay,
  block,
  unblock,
  maxConnections,
  hours,
  maxRate,
  maxBandwidth,
  note,
  clear,
}: HostRuleOptions): Record<string, unknown> {
  return {delay, block, unblock, maxConnections, hours, maxRate, maxBandwidth, note, clear};
}

/** The rule after a change. */
function ruleAfter(before: HostRuleText, change: HostRuleOptions, blockedWidely: boolean): HostRuleText {
  const from = change.clear ? noRule : before;
  const excepted = change.unblock ? blockedWidely : from.unblocked === true;
  return {
    min_delay_ms: change.delay ?? from.min_delay_ms,
    blocked: change.block || (from.blocked && !change.unblock),
    max_connections: change.maxConnections ?? from.max_connections,
    note: change.note ?? from.note,
    hours: change.hours?.trim() ?? from.hours,
    max_rate: change.maxRate ?? from.max_rate,
    max_bandwidth: change.maxBandwidth ?? from.max_bandwidth,
    unblocked: excepted && !change.block ? true : null,
  };
}

/** Does a rule about more hosts than `text` is block all of those? Of patterns that is not asked: they overlap. */
function isBlockedWidely(rules: ReadonlyMap<string, HostRuleRow>, text: string): boolean {
  if (ruleAbout(text) === 'pattern') return [...rules.values()].some(({blocked}) => blocked);
  const wider = new HostRules(
    [...rules.values()].filter(
      ({url_host_name}) => url_host_name !== text && ruleAbout(url_host_name) !== 'host',
    ),
  );
  return wider.of(text.replace(/^\./, ''))?.blocked ?? false;
}

function sameRule(a: HostRuleText, b: HostRuleText): boolean {
  return (Object.keys(noRule) as (keyof HostRuleText)[]).every((name) => a[name] === b[name]);
}

async function readRules(
  files: readonly FileRef[],
  path: (file: FileRef) => string,
): Promise<Map<string, HostRuleRow>> {
  const rules = new Map<string, HostRuleRow>();
  for (const file of files)
    for await (const rows of readTable(hostrules, path(file)))
      for (const row of rows) rules.set(row.url_host_name, row);
  return rules;
}

async function writeRules(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const {host, change, now} = task.params as {host: string; change: HostRuleOptions; now: number}; // made by plan
  const rules = await readRules(task.inputs, (file) => ctx.store.path(file));
  const rule = ruleAfter(rules.get(host) ?? noRule, change, isBlockedWidely(rules, host));
  const set = !sameRule(rule, noRule);
  if (set)
    rules.set(host, {
      url_host_name: host,
      host_key: hostKey(host),
      ...rule,
      applies_to: ruleAbout(host),
      changed_time: new Date(now),
    });
  else rules.delete(host);
  const result = {counters: {}, reasons: {}, facts: {host, rule: set ? rule : null}};
  if (rules.size === 0) return {files: [], ...result};
  const file = await ctx.store.create(hostrules, 'hosts/hostrules');
  await file.write([...rules.values()].sort((a, b) => (a.url_host_name < b.url_host_name ? -1 : 1)));
  return {files: [await file.close()], ...result};
}
