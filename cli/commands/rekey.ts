import {rekey} from '../../jobs/rekey.ts';
import {closing, parts, reasonList} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption} from '../job-command.ts';

export const command = defineCommand({
  name: rekey.name,
  summary: rekey.summary,
  details: [
    'After a change of url settings other commands refuse to go on, since pages would get a second row. This gives',
    'all URLs of the crawldb and the linkdb their new form, merges rows that become one, and keeps URLs that are',
    'refused now as gone, with the reason. Segments must be applied or dropped first.',
  ].join('\n'),
  options: dryRunOption,
  positionals: [],
  async run({options}, context) {
    const report = await context.runJob(rekey, {}, dryRun(context, options.dryRun));
    const why = reasonList(report.reasons);
    await close(context, report, [
      report.outcome === 'nothing'
        ? closing(report, 'the url settings are those of this crawl: nothing to do')
        : closing(
            report,
            `crawldb: ${parts(report, {
              urls_rekeyed_total: 'URLs in another form',
              urls_merged_total: 'merged with others',
              rows_refused_total: 'refused',
            })}`,
          ),
      ...(why === '' ? [] : [`refused: ${why}`]),
    ]);
    return undefined;
  },
});
