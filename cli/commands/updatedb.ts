import {updatedb} from '../../jobs/updatedb.ts';
import {reasonList} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {updateClosing} from '../rounds.ts';

export const command = defineCommand({
  name: updatedb.name,
  summary: updatedb.summary,
  details: 'Without a segment: every fetched one that is not yet applied. Applying again changes nothing.',
  options: {...without(updatedb.options, 'segments'), ...dryRunOption},
  positionals: [{name: 'SEGMENT', doc: 'Segments to apply.', many: true}],
  async run({options, positionals}, context) {
    const report = await context.runJob(
      updatedb,
      {...options, segments: positionals},
      dryRun(context, options.dryRun),
    );
    const why = reasonList(report.reasons);
    await close(context, report, [updateClosing(report), ...(why === '' ? [] : [`reasons: ${why}`])]);
    return undefined;
  },
});
