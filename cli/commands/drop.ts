import {drop} from '../../jobs/drop.ts';
import {closing} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';

export const command = defineCommand({
  name: drop.name,
  summary: drop.summary,
  details: 'What updatedb has taken from a segment stays in the crawldb.',
  options: {...without(drop.options, 'segment'), ...dryRunOption},
  positionals: [{name: 'SEGMENT', doc: 'Segments to drop.', required: true, many: true}],
  async run({options, positionals}, context) {
    const report = await context.runJob(
      drop,
      {...options, segment: positionals},
      dryRun(context, options.dryRun),
    );
    await close(context, report, [closing(report, `dropped ${positionals.join(', ')}`)]);
    return undefined;
  },
});
