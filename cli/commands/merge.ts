import {resolve} from 'node:path';
import {merge} from '../../jobs/merge.ts';
import {closing, parts} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption} from '../job-command.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: merge.name,
  summary: merge.summary,
  details: [
    'Of a URL that several crawls know the newest fetch tells the state, the newest success what is held; the nearest',
    'seed, the earliest discovery and the best score count. Links of a page are those of the crawl that fetched it last.',
    'Segments come whole; one whose name is taken gets another, one that is here already stays. Pages that are equal now',
    'are told, as by updatedb; nearly equal texts are by crawl dedup. The other crawls are only read; they must have the',
    'same url settings, and no fetch that is not at its end. The same crawl again changes nothing.',
  ].join('\n'),
  examples: [
    ['crawl merge ../north ../south', 'two crawls into this one'],
    ['crawl init all && crawl merge -C all ../north ../south', 'into a new one'],
  ],
  options: dryRunOption,
  positionals: [{name: 'CRAWL', doc: 'Folders of the crawls to take in.', required: true, many: true}],
  async run({options, positionals}, context) {
    const from = positionals.map((dir) => resolve(context.io.cwd, dir));
    const report = await context.runJob(merge, {from}, dryRun(context, options.dryRun));
    const segments = Object.keys((report.plan?.facts?.segments ?? {}) as object).length; // of the job's plan
    await close(context, report, [
      closing(
        report,
        `crawldb: ${parts(report, {
          rows_added_total: ['URL added', 'URLs added'],
          urls_merged_total: ['merged with another', 'merged with others'],
          rows_refused_total: 'refused (key_clash)',
        })}; ${counted(segments, 'segment')} taken over`,
      ),
    ]);
    return undefined;
  },
});
