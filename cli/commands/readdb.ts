import {readSnapshot} from '../../jobs/read/crawl.ts';
import {
  dumpSql,
  hostStatusSql,
  quickStatistics,
  type RowFilter,
  topSql,
  urlSql,
} from '../../jobs/read/crawldb.ts';
import {readStatistics} from '../../jobs/read/statistics.ts';
import {type Statistic, statisticsOf} from '../../lib/crawldb/statistics.ts';
import {CrawlError} from '../../lib/errors.ts';
import type {OptionDeclarations, OptionValues} from '../../lib/options.ts';
import {type CommandContext, defineCommand} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {oneMode} from '../modes.ts';
import type {RowFormat} from '../output.ts';
import {writeRows} from '../output.ts';
import {
  answerQuery,
  type OutputPlace,
  outputPlace,
  readerOptions,
  withSession,
  writeQuery,
  writeRecord,
} from '../query-output.ts';
import {visible} from '../words.ts';

const filterOptions = {
  status: {kind: 'list', default: [], doc: 'With --dump or --top-n: only these states.'},
  host: {kind: 'list', default: [], doc: 'Only these hosts.'},
  regex: {kind: 'text', doc: 'Only URLs in which this pattern (RE2) is found.'},
  retries: {kind: 'count', doc: 'Only rows with so many failures in a row.'},
  where: {kind: 'text', doc: 'Only rows for which this condition in SQL holds.'},
  sample: {kind: 'number', doc: 'Only this share of the rows, 0 to 1; the same ones each time.'},
} as const satisfies OptionDeclarations;

export const command = defineCommand({
  name: 'readdb',
  summary: 'Read the crawldb: statistics, all rows, the best URLs, one URL.',
  details: [
    'Without a mode: --stats, from counts that are kept with the data, so at once at any size; in them scores and',
    'intervals have four digits, and times the minute: what is due in this minute is due now. --sort reads all rows.',
    'Rows of --dump come as they are read, in no order. More questions: crawl sql.',
  ].join('\n'),
  examples: [
    ['crawl readdb', 'statistics'],
    ['crawl readdb --top-n 20 --status unfetched', 'what generate would like best'],
    ['crawl readdb --dump --host www.example.org -o host.csv', 'the rows of a host as a file'],
    ['crawl readdb --url https://example.org/', 'one row; crawl explain says why'],
  ],
  options: {
    stats: {
      kind: 'flag',
      default: false,
      doc: 'Counts by status, reason, retries and depth; scores, times, intervals.',
    },
    quick: {kind: 'flag', default: false, doc: 'With --stats: only the totals, which the manifest has.'},
    sort: {
      kind: 'flag',
      default: false,
      doc: 'With --stats: also counts by host and status, for the 50 largest hosts.',
    },
    dump: {kind: 'flag', default: false, doc: 'All rows.'},
    topN: {kind: 'count', doc: 'The URLs with the highest scores, so many.'},
    minScore: {kind: 'number', doc: 'With --top-n: no lower scores.'},
    url: {kind: 'text', doc: 'The row of a URL, which is normalized first. Exit code 1 where there is none.'},
    ...filterOptions,
    ...readerOptions,
  },
  positionals: [],
  async run({options}, context) {
    const mode =
      oneMode('readdb', {
        '--stats': options.stats,
        '--dump': options.dump,
        '--top-n': options.topN !== undefined,
        '--url': options.url !== undefined,
      }) ?? '--stats';
    const filters = (Object.keys(filterOptions) as (keyof typeof filterOptions)[]).filter((name) => {
      const value: unknown = options[name];
      return Array.isArray(value) ? value.length > 0 : value !== undefined;
    });
    if (filters.length > 0 && (mode === '--stats' || mode === '--url'))
      throw new CrawlError('USAGE', `--${filters[0]} goes with --dump or --top-n`, {
        hint: 'See: crawl readdb --help',
      });
    const filter: RowFilter = options;
    const typed = {table: 'crawldb', where: filter.where, regex: filter.regex};
    switch (mode) {
      case '--stats':
        await stats(options, context);
        return undefined;
      case '--dump':
        await answerQuery(dumpSql(filter), options, context, 'readdb', typed);
        return undefined;
      case '--top-n':
        await answerQuery(topSql(options.topN!, options.minScore, filter), options, context, 'readdb', typed);
        return undefined;
      case '--url':
        return one(options.url!, options, context);
    }
  },
});

type ReaderOptions = OptionValues<typeof readerOptions>;

async function stats(
  options: ReaderOptions & {readonly quick: boolean; readonly sort: boolean},
  context: CommandContext,
): Promise<void> {
  const place = outputPlace(options, context, 'readdb');
  if (place.file !== undefined)
    throw new CrawlError('USAGE', '--output is for rows: --dump, --top-n, --url', {
      hint: 'See: crawl readdb --help',
    });
  const {dir, config} = await context.crawl();
  const {effects} = context;
  const snapshot = await readSnapshot(dir, options.asOf);
  const quick = quickStatistics(snapshot.manifest);
  const format = place.format as RowFormat; // parquet needs a file
  const columns = ['statistic', 'of', 'value'];
  const rest = async function* (): AsyncGenerator<Statistic[]> {
    const now = effects.now();
    const {counts, kept} = await readStatistics(snapshot, config, effects.signal, now);
    if (!kept) context.say('counted by reading all rows; crawl updatehostdb keeps the counts with the data');
    yield statisticsOf(counts, now);
    if (options.sort) yield* hostCounts(options, place, context);
  };
  if (format === 'table') {
    await writeRows(context.out, format, columns, [quick]); // seen while all rows are read, if they must be
    if (options.quick) return;
    await context.out.write('\n');
    await writeRows(context.out, format, columns, rest());
    return;
  }
  const all = async function* (): AsyncGenerator<Statistic[]> {
    yield quick;
    if (!options.quick) yield* rest();
  };
  await writeRows(context.out, format, columns, all());
}

async function* hostCounts(
  options: ReaderOptions,
  place: OutputPlace,
  context: CommandContext,
): AsyncGenerator<Statistic[]> {
  yield* await withSession(options, place, context, async (session) => {
    const batches: Statistic[][] = [];
    for await (const rows of (await session.query(hostStatusSql(50))).batches)
      batches.push(
        rows.map(({host, status, urls}) => ({
          statistic: `host ${host}`,
          of: status as string,
          value: urls as number,
        })),
      );
    return batches;
  });
}

async function one(url: string, options: ReaderOptions, context: CommandContext): Promise<1 | undefined> {
  const place = outputPlace(options, context, 'readdb');
  return withSession({...options, about: url}, place, context, async (session) => {
    const {batches} = await session.query(urlSql(url));
    for await (const [row] of batches)
      if (row !== undefined) {
        if (place.file === undefined) await writeRecord(context.out, place.format as RowFormat, row);
        else await writeQuery(session, urlSql(url), place, context);
        return undefined;
      }
    context.say(`${visible(url)} is not in the crawldb; why: crawl explain ${visible(url)}`);
    return exitCodes.failed;
  });
}
