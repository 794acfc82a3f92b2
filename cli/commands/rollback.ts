import {keptManifests} from '../../jobs/rollback/kept-manifests.ts';
import {type RollbackChanges, rollback} from '../../jobs/rollback.ts';
import {CrawlError} from '../../lib/errors.ts';
import {closing} from '../closing.ts';
import {type CommandContext, defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {writeRows} from '../output.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: rollback.name,
  summary: rollback.summary,
  details: [
    'Without a number: the manifests that are kept, newest first (storage.keep_manifests, storage.min_manifests).',
    'Tables and segments are as they were; nothing is removed, so a rollback can be rolled back. Politeness of hosts,',
    'robots.txt files, rules by hand and the history of runs stay as they are now.',
  ].join('\n'),
  examples: [
    ['crawl rollback', 'what can be gone back to'],
    ['crawl sql --as-of 41 "FROM crawldb"', 'a look at it first'],
    ['crawl rollback 41', 'the crawl as of manifest 41'],
  ],
  options: {...without(rollback.options, 'to'), ...dryRunOption},
  positionals: [{name: 'MANIFEST', doc: 'Number of the manifest to go back to.'}],
  async run({options, positionals}, context) {
    const [text] = positionals;
    if (text === undefined) {
      await list(context);
      return undefined;
    }
    if (!/^\d{1,9}$/.test(text))
      throw new CrawlError('USAGE', `${text} is no number of a manifest`, {
        hint: 'crawl rollback lists those that are kept.',
      });
    const report = await context.runJob(
      rollback,
      {to: Number(text), force: options.force},
      dryRun(context, options.dryRun),
    );
    const changes = report.facts[0] as RollbackChanges | undefined; // of the job's task
    await close(context, report, [
      changes === undefined
        ? closing(report, `the crawl is as of manifest ${text} already`)
        : closing(report, told(changes)),
    ]);
    return undefined;
  },
});

async function list({crawl, out, globals}: CommandContext): Promise<void> {
  const manifests = await keptManifests((await crawl()).dir);
  const columns = ['manifest', 'created_time', 'job', 'urls', 'segments'];
  await writeRows(out, globals.json ? 'jsonl' : 'table', columns, [manifests]);
}

function told({from, to, segmentsGone, segmentsBack, urlsBefore, urlsAfter}: RollbackChanges): string {
  const parts = [
    `${counted(urlsAfter, 'URL')} in place of ${urlsBefore}`,
    ...(segmentsGone.length > 0 ? [`${counted(segmentsGone.length, 'segment')} gone`] : []),
    ...(segmentsBack.length > 0 ? [`${counted(segmentsBack.length, 'segment')} back`] : []),
  ];
  return `as of manifest ${to}: ${parts.join(', ')}; crawl rollback ${from} undoes it`;
}
