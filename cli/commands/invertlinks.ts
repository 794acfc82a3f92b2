import {invertlinks} from '../../jobs/invertlinks.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {invertClosing} from '../rounds.ts';

export const command = defineCommand({
  name: invertlinks.name,
  summary: invertlinks.summary,
  details: 'Links are replaced per source page, so that links that a page no longer has disappear.',
  options: {...without(invertlinks.options, 'segments'), ...dryRunOption},
  positionals: [
    {name: 'SEGMENT', doc: 'Segments; all whose current parse is not in the linkdb if absent.', many: true},
  ],
  async run({options, positionals}, context) {
    const report = await context.runJob(
      invertlinks,
      {...options, segments: positionals},
      dryRun(context, options.dryRun),
    );
    await close(context, report, [invertClosing(report)]);
    return undefined;
  },
});
