import {describeHost, type HostDescription, isHeardOf} from '../../jobs/describe-host.ts';
import {hostNameOf} from '../../jobs/host-name.ts';
import {checkHostRule, type HostRuleText, hostRules} from '../../jobs/host-rules.ts';
import {readPolicies} from '../../jobs/read-policies.ts';
import {defineCommand} from '../command.ts';
import {hostAnswer, hostText, ruleText} from '../host-text.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {jsonValue} from '../output.ts';
import {visible} from '../words.ts';

export const command = defineCommand({
  name: hostRules.name,
  summary: hostRules.summary,
  details: [
    'Without options: whether the host may be asked, every term of its delay, back-off, robots.txt, counts, and the',
    'rule by hand. With options the rule is changed, in what they say; a running fetch keeps to it within 5 s. A rule',
    'may be made for a host of which nothing is known yet.',
  ].join('\n'),
  examples: [
    ['crawl host www.example.org', 'what is known of it'],
    ['crawl host www.example.org --block --note "asked us to stop"', 'nothing more is asked of it'],
    ['crawl host www.example.org --delay 5s --max-connections 2', 'a rule beside what it said'],
    ['crawl host www.example.org --clear', 'no rule any more'],
    ['crawl sql "FROM hostrules"', 'all rules'],
  ],
  options: {...without(hostRules.options, 'host'), ...dryRunOption},
  positionals: [{name: 'HOST', doc: 'Name of the host, or a URL of it.', required: true}],
  async run({options, positionals}, context) {
    const {effects, out, globals} = context;
    const {dryRun: planOnly, ...change} = options;
    const host = positionals[0]!;
    const sets = checkHostRule({...change, host});
    const {dir, config} = await context.crawl();
    const describe = () => describeHost(host, effects.now(), {dir, config, signal: effects.signal});
    if (!sets) {
      const found = await describe();
      const now = effects.now();
      if (globals.json)
        await out.line(JSON.stringify({answer: hostAnswer(found, now), ...(jsonValue(found) as object)})); // an object stays one
      else await out.write(hostText(found, {now, colours: out.colours}));
      return undefined;
    }
    hostNameOf(host, (await readPolicies(dir, config)).policy); // told before anything is touched
    const report = await context.runJob(
      hostRules,
      {...change, host},
      {...dryRun(context, planOnly), terse: true},
    );
    const set = report.facts[0] as {host: string; rule: HostRuleText | null} | undefined; // of the job's task
    if (set === undefined) await close(context, report, [`${visible(host)}: nothing to change`]);
    else await close(context, report, [outcome(set), ...(await warnings(set.rule, describe))]);
    return undefined;
  },
});

function outcome({host, rule}: {readonly host: string; readonly rule: HostRuleText | null}): string {
  const says = rule === null ? 'no rule by hand any more' : ruleText(rule);
  return `${visible(host)}: ${says}; a running fetch keeps to it within 5 s`;
}

/** What a person may have overlooked. */
async function warnings(
  rule: HostRuleText | null,
  describe: () => Promise<HostDescription>,
): Promise<string[]> {
  if (rule === null) return [];
  const lines: string[] = [];
  const {url_host_name, ...known} = await describe();
  if (!isHeardOf(known))
    lines.push(`note: the crawl has not heard of ${url_host_name} yet; the rule holds once it has`);
  if (rule.min_delay_ms !== null && rule.min_delay_ms < 1000 && !rule.blocked)
    lines.push('note: less than 1 s between requests is for hosts whose owner has agreed');
  return lines;
}
