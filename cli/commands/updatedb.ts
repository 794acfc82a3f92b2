import {rekey} from '../../jobs/rekey.ts';
import {tidydb} from '../../jobs/tidydb.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {closing, counterOf, parts, reasonList} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {updateClosing} from '../rounds.ts';
import {counted, span} from '../words.ts';

export const command = defineCommand({
  name: updatedb.name,
  summary: updatedb.summary,
  details: [
    'Without a segment: every fetched one that is not yet applied. Applying again changes nothing.',
    '--normalize brings all URLs to the form of changed url settings first (crawl rekey). --filter, --orphans and --purge go',
    'over the whole crawldb afterwards: rows that the scope refuses are gone with its reason and come back when it takes',
    'them again; what is long gone is forgotten, but never a refusal, nor a seed.',
  ].join('\n'),
  options: {
    ...without(updatedb.options, 'segments'),
    normalize: {kind: 'flag', default: false, doc: 'Bring all URLs to the form of the url settings first.'},
    ...tidydb.options,
    ...dryRunOption,
  },
  positionals: [{name: 'SEGMENT', doc: 'Segments to apply.', many: true}],
  async run({options, positionals}, context) {
    const {normalize, filter, orphans, purge, dryRun: planOnly, ...update} = options;
    const settings = dryRun(context, planOnly);
    if (normalize) {
      const report = await context.runJob(rekey, {}, settings);
      await close(context, report, [
        `${counted(counterOf(report, 'urls_rekeyed_total'), 'URL')} in another form (${span(report.durationMs)})`,
      ]);
    }
    const report = await context.runJob(updatedb, {...update, segments: positionals}, settings);
    const why = reasonList(report.reasons);
    await close(context, report, [updateClosing(report), ...(why === '' ? [] : [`reasons: ${why}`])]);
    if (!filter && orphans === undefined && purge === undefined) return undefined;
    const tidied = await context.runJob(tidydb, {filter, orphans, purge}, settings);
    const refused = reasonList(tidied.reasons);
    const text = parts(tidied, {
      rows_refused_total: 'refused by the scope',
      rows_orphaned_total: ['orphan', 'orphans'],
      rows_released_total: 'due again',
      rows_purged_total: 'forgotten',
    });
    await close(context, tidied, [
      closing(tidied, `over the whole crawldb: ${text}`),
      ...(refused === '' ? [] : [`refused: ${refused}`]),
    ]);
    return undefined;
  },
});
