import {sitemap} from '../../jobs/sitemap.ts';
import {closing, reasonList} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {sitemapOutcome} from '../rounds.ts';

export const command = defineCommand({
  name: sitemap.name,
  summary: sitemap.summary,
  details: [
    'Sitemaps are fetched, parsed and seen again as pages are, and what they list comes into the crawl with them.',
    'Without arguments: those of all robots.txt files that the crawl holds. scope.sitemaps does this in each round.',
  ].join('\n'),
  examples: [
    ['crawl sitemap', 'of all hosts that were asked'],
    ['crawl sitemap www.example.org --well-known', 'of one host'],
    ['crawl sitemap https://example.org/sitemap-2.xml.gz', 'by hand'],
  ],
  options: {...without(sitemap.options, 'urls', 'hosts'), ...dryRunOption},
  positionals: [{name: 'SOURCE', doc: 'URLs of sitemaps, or hosts whose robots.txt names some.', many: true}],
  async run({options, positionals}, context) {
    const isUrl = (text: string) => text.includes('://');
    const report = await context.runJob(
      sitemap,
      {
        ...options,
        urls: positionals.filter(isUrl),
        hosts: positionals.filter((text) => !isUrl(text)),
      },
      dryRun(context, options.dryRun),
    );
    const why = reasonList(report.reasons);
    await close(context, report, [
      report.outcome === 'nothing'
        ? closing(report, 'no robots.txt is held yet')
        : closing(report, `sitemaps: ${sitemapOutcome(report)}`),
      ...(why === '' ? [] : [`rejected: ${why}`]),
    ]);
    return undefined;
  },
});
