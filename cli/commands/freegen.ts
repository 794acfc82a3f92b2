import {resolve} from 'node:path';
import {freegen} from '../../jobs/freegen.ts';
import {CrawlError} from '../../lib/errors.ts';
import {closing, counterOf, reasonList} from '../closing.ts';
import {type CommandContext, defineCommand} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {describeList, type ForecastSegment, forecastLines} from '../forecast-text.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: freegen.name,
  summary: freegen.summary,
  details: [
    'The URLs are taken in their order, known or not, due or not, and without caps; those of blocked hosts, those that',
    'the scope refuses and those of open segments are left out, with the count. Prints the id of the segment.',
    'Exit code 3 if no URL is left.',
  ].join('\n'),
  examples: [
    ['crawl freegen urls.txt', 'a list, plain or gzip'],
    ['crawl freegen - < urls.txt', 'standard input'],
    ['crawl freegen --sql "SELECT url FROM crawldb WHERE status = \'gone\' LIMIT 100"', 'what a query finds'],
  ],
  options: {
    ...without(freegen.options, 'files', 'urls'),
    sql: {kind: 'text', doc: 'Query over the crawl whose first column, or column url, has the URLs.'},
    ...dryRunOption,
  },
  positionals: [{name: 'SOURCE', doc: 'Files, URLs, or - for standard input.', many: true}],
  async run({options, positionals}, context) {
    const {globals, out, effects} = context;
    const {sql, dryRun: planOnly, ...given} = options;
    if (sql !== undefined && positionals.length > 0)
      throw new CrawlError('USAGE', '--sql and lists of URLs exclude each other');
    const isUrl = (text: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
    const files = positionals.filter((text) => !isUrl(text));
    const urls = sql === undefined ? positionals.filter(isUrl) : await urlsOf(sql, context);
    if (sql !== undefined && urls.length === 0) {
      context.say('the query finds no URL');
      return exitCodes.nothing;
    }
    const report = await context.runJob(
      freegen,
      {...given, urls, files: files.map((file) => (file === '-' ? file : resolve(context.io.cwd, file)))},
      dryRun(context, planOnly),
    );
    const made = report.facts.flatMap(({segments}) => (segments ?? []) as readonly ForecastSegment[]); // the job's own form
    if (!globals.json) for (const {id} of made) await out.line(id);
    const left = counterOf(report, 'urls_left_total');
    await close(context, report, [
      closing(report, made[0] === undefined ? 'no segment' : describeList(made[0])),
      ...(left > 0
        ? [`${counted(left, 'line')} left out: ${reasonList(report.reasons) || 'named twice'}`]
        : []),
      ...made.flatMap((segment) => forecastLines(segment, effects.now())),
    ]);
    return made.length === 0 && report.outcome !== 'planned' ? exitCodes.nothing : undefined;
  },
});

/** URLs that a query finds, in its order. */
async function urlsOf(sql: string, context: CommandContext): Promise<string[]> {
  const {openQueries} = await import('../../jobs/query.ts');
  const {dir, config} = await context.crawl();
  const session = await openQueries({dir, config, signal: context.effects.signal});
  try {
    const {columns, batches} = await session.query(sql);
    const column = columns.includes('url') ? 'url' : columns[0];
    const urls: string[] = [];
    for await (const rows of batches)
      for (const row of rows) {
        const value = column === undefined ? null : row[column];
        if (value === null || value === undefined) continue;
        if (typeof value !== 'string')
          throw new CrawlError('USAGE', `--sql: the column ${column} holds no texts`, {
            hint: 'Name the column of URLs url, or put it first.',
          });
        urls.push(value);
      }
    return urls;
  } finally {
    await session.close();
  }
}
