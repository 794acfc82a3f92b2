import {compact} from '../../jobs/compact.ts';
import {closing, counterOf} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption} from '../job-command.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: compact.name,
  summary: compact.summary,
  details:
    'Rounds compact by themselves, a few buckets at a time. With --full equal crawldbs become equal files, however they came about.',
  options: {...compact.options, ...dryRunOption},
  positionals: [],
  async run({options}, context) {
    const report = await context.runJob(compact, options, dryRun(context, options.dryRun));
    const buckets = counted(counterOf(report, 'buckets_compacted_total'), 'bucket');
    const rows = counted(counterOf(report, 'rows_compacted_total'), 'row');
    const text =
      report.outcome === 'nothing' ? 'nothing to compact' : `crawldb: ${buckets} written anew, ${rows}`;
    await close(context, report, [closing(report, text)]);
    return undefined;
  },
});
