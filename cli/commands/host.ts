import {readPolicies} from '../../jobs/config/policies.ts';
import {describeGroup, describeHost} from '../../jobs/host/describe.ts';
import {isOneHost, ruleTargetOf} from '../../jobs/host/name.ts';
import {checkHostRule, type HostRuleText, hostRules} from '../../jobs/host-rules.ts';
import type {ReadSettings} from '../../jobs/read/crawl.ts';
import {CrawlError} from '../../lib/errors.ts';
import {type CommandContext, defineCommand} from '../command.ts';
import {groupText, hostAnswer, hostText, ruleText} from '../host-text.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {jsonValue} from '../output.ts';
import {visible} from '../words.ts';

export const command = defineCommand({
  name: hostRules.name,
  summary: hostRules.summary,
  details: [
    'Without options: whether the host may be asked, every term of its delay, back-off, robots.txt, counts, and the',
    'rules by hand. With options the rule is changed, in what they say; a running fetch keeps to it within 5 s, generate',
    'and updatedb from their next run on. Of several rules about a host the narrowest that says something of a matter',
    'decides: its own, then those with the longest text. What no known host is called is a mistake unless --new is given.',
  ].join('\n'),
  examples: [
    ['crawl host www.example.org', 'what is known of it'],
    ['crawl host www.example.org --block --note "asked us to stop"', 'nothing more is asked of it'],
    ['crawl host www.example.org --delay 5s --max-connections 2', 'a rule beside what it said'],
    ['crawl host --domain example.org --block', 'the domain and every host below it'],
    ['crawl host --pattern "*.cdn.example.org" --delay 5s', 'hosts whose names fit'],
    ['crawl host www.example.org --unblock', 'this one is asked all the same'],
    ['crawl host www.example.org --clear', 'no rule any more'],
    ['crawl sql "FROM hostrules"', 'all rules'],
  ],
  options: {
    ...without(hostRules.options, 'host'),
    new: {kind: 'flag', default: false, doc: 'Make a rule about hosts of which the crawl knows none yet.'},
    ...dryRunOption,
  },
  positionals: [{name: 'HOST', doc: 'Name of the host, or a URL of it.'}],
  async run({options, positionals}, context) {
    const {effects} = context;
    const {dryRun: planOnly, new: isNew, ...change} = options;
    const given = {...change, host: positionals[0]};
    const sets = checkHostRule(given);
    const {dir, config} = await context.crawl();
    const target = ruleTargetOf(given, (await readPolicies(dir, config)).policy); // told before anything is touched
    const settings = {dir, config, signal: effects.signal};
    if (!sets) {
      await show(target, settings, context);
      return undefined;
    }
    if (!isNew) await expectKnown(target, effects.now(), settings);
    const report = await context.runJob(hostRules, given, {...dryRun(context, planOnly), terse: true});
    const set = report.facts[0] as {host: string; rule: HostRuleText | null} | undefined; // of the job's task
    if (set === undefined) await close(context, report, [`${visible(target)}: nothing to change`]);
    else await close(context, report, [outcome(set), ...warnings(set.rule)]);
    return undefined;
  },
});

async function show(
  target: string,
  settings: ReadSettings,
  {effects, out, globals}: CommandContext,
): Promise<void> {
  const now = effects.now();
  const frame = {now, colours: out.colours};
  if (isOneHost(target)) {
    const found = await describeHost(target, now, settings);
    if (!globals.json) return out.write(hostText(found, frame));
    return out.line(JSON.stringify({answer: hostAnswer(found, now), ...(jsonValue(found) as object)})); // an object stays one
  }
  const found = await describeGroup(target, settings);
  return globals.json ? out.line(JSON.stringify(jsonValue(found))) : out.write(groupText(found, frame));
}

/** A rule about what nobody is called is more often a slip of the hand than meant. */
async function expectKnown(target: string, now: number, settings: ReadSettings): Promise<void> {
  try {
    if (isOneHost(target)) await describeHost(target, now, settings);
    else await describeGroup(target, settings);
  } catch (error) {
    if (!(error instanceof CrawlError) || error.code !== 'HOST_UNKNOWN') throw error;
    const near = error.hint?.replace(/\.?$/, '. ') ?? '';
    throw new CrawlError('HOST_UNKNOWN', error.message, {
      facts: error.facts,
      hint: `${near}If it is meant all the same, give --new.`,
    });
  }
}

function outcome({host, rule}: {readonly host: string; readonly rule: HostRuleText | null}): string {
  const says = rule === null ? 'no rule by hand any more' : ruleText(rule);
  return `${visible(host)}: ${says}; a running fetch keeps to it within 5 s`;
}

/** What a person may have overlooked. */
function warnings(rule: HostRuleText | null): string[] {
  return rule !== null && rule.min_delay_ms !== null && rule.min_delay_ms < 1000 && !rule.blocked
    ? ['note: less than 1 s between requests is for hosts whose owner has agreed']
    : [];
}
