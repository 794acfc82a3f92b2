import {resolve} from 'node:path';
import {parse} from '../../jobs/parse.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {parseClosing} from '../rounds.ts';

export const command = defineCommand({
  name: parse.name,
  summary: parse.summary,
  details: 'Without a segment: every fetched one that is not yet applied and lacks the present parse.',
  examples: [
    ['crawl parse --all --as trial', 'everything again under a name, beside the present parse'],
    ['crawl parse 20260102030405', 'one segment, again if it is parsed'],
  ],
  options: {...without(parse.options, 'segment'), ...dryRunOption},
  positionals: [{name: 'SEGMENT', doc: 'Segments to parse.', many: true}],
  async run({options, positionals}, context) {
    const report = await context.runJob(
      parse,
      {...options, segment: positionals, with: options.with.map((file) => resolve(context.io.cwd, file))},
      dryRun(context, options.dryRun),
    );
    await close(context, report, [parseClosing(report)]);
    return undefined;
  },
});
