import {resolve} from 'node:path';
import {inject} from '../../jobs/inject.ts';
import {closing, counterOf, parts, reasonList} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {nothingAccepted} from '../rounds.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: inject.name,
  summary: inject.summary,
  details: [
    'A line of a list is a URL, then tab and key=value pairs: score, interval, fixed_interval, tag, group, scope;',
    'other keys become metadata. Blank lines and lines that begin with # say nothing. Known URLs stay as they are.',
    'A rejected line is kept with its reason, and the others are injected; exit code 1 if all were rejected.',
  ].join('\n'),
  examples: [
    ['crawl inject seeds.txt more.txt.gz', 'lists, plain or gzip'],
    ['crawl inject https://example.org/', 'a URL'],
    ['crawl inject - < seeds.txt', 'standard input'],
  ],
  options: {...without(inject.options, 'files', 'urls'), ...dryRunOption},
  positionals: [
    {
      name: 'SOURCE',
      doc: 'Files, URLs (with https:// or http://), or - for standard input.',
      required: true,
      many: true,
    },
  ],
  async run({options, positionals}, context) {
    const isUrl = (text: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
    const files = positionals.filter((text) => !isUrl(text));
    const report = await context.runJob(
      inject,
      {
        ...options,
        urls: positionals.filter(isUrl),
        files: files.map((file) => (file === '-' ? file : resolve(context.io.cwd, file))),
      },
      dryRun(context, options.dryRun),
    );
    const rejected = counterOf(report, 'seeds_rejected_total');
    await close(context, report, [
      closing(
        report,
        `${counted(counterOf(report, 'seeds_read_total'), 'seed')}: ${parts(report, {
          seeds_added_total: 'added',
          seeds_updated_total: 'updated',
          seeds_known_total: 'known already',
          seeds_rejected_total: 'rejected',
        })}`,
      ),
      ...(rejected > 0
        ? [
            `rejected: ${reasonList(withoutKnown(report.reasons))}; see: crawl sql "FROM seeds WHERE outcome = 'rejected'"`,
          ]
        : []),
    ]);
    return nothingAccepted(report) ? exitCodes.failed : undefined;
  },
});

function withoutKnown({seed_known: _, ...others}: Readonly<Record<string, number>>): Record<string, number> {
  return others;
}
