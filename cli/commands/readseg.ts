import {readSnapshot} from '../../jobs/read/crawl.ts';
import {
  partOfUrlSql,
  partSql,
  type SegmentPart,
  segmentListSql,
  segmentParts,
} from '../../jobs/read/segments.ts';
import {CrawlError} from '../../lib/errors.ts';
import {type CommandContext, defineCommand} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {oneMode} from '../modes.ts';
import type {OutputRow, RowFormat} from '../output.ts';
import {jsonValue} from '../output.ts';
import {answerQuery, outputPlace, readerOptions, withSession, writeRecord} from '../query-output.ts';
import {visible} from '../words.ts';

export const command = defineCommand({
  name: 'readseg',
  summary: 'Read segments: list them, dump a part, get all that they hold of a URL.',
  details: [
    'Without a mode: --list. Parts: fetchlist (Nutch: crawl_generate), fetch (crawl_fetch), content, parse (parse_data',
    'and parse_text), outlinks (crawl_parse); of several parses the current one. The page itself: crawl cat URL.',
  ].join('\n'),
  examples: [
    ['crawl readseg', 'all segments with their counts'],
    ['crawl readseg --dump --part parse 20260102030405 -o pages.parquet', 'a part as a file'],
    ['crawl readseg --get https://example.org/', 'selections, captures, parses and links of a URL'],
  ],
  options: {
    list: {
      kind: 'flag',
      default: false,
      doc: 'A row a segment: selected, fetched, parsed, first and last fetch.',
    },
    dump: {kind: 'flag', default: false, doc: 'All rows of a part, in no order.'},
    get: {kind: 'text', doc: 'What the segments hold of a URL, which is normalized first.'},
    part: {
      kind: 'list',
      default: [],
      doc: `With --dump one part, fetch if absent; with --get some, all but content if absent: ${segmentParts.join(' ')}.`,
    },
    ...readerOptions,
  },
  positionals: [{name: 'SEGMENT', doc: 'Only these segments.', many: true}],
  async run({options, positionals}, context) {
    const mode = oneMode('readseg', {
      '--list': options.list,
      '--dump': options.dump,
      '--get': options.get !== undefined,
    });
    const parts = checkParts(options.part);
    if (parts.length > 0 && mode !== '--dump' && mode !== '--get')
      throw usage('--part goes with --dump or --get');
    if (parts.length > 1 && mode === '--dump') throw usage('--dump takes one part');
    const {dir} = await context.crawl();
    await readSnapshot(dir, options.asOf, positionals); // a wrong segment is told first
    const reader = {...options, segments: positionals};
    if (mode === '--get') return get(options.get!, parts, reader, context);
    const sql = mode === '--dump' ? partSql(parts[0] ?? 'fetch') : segmentListSql;
    await answerQuery(sql, reader, context, 'readseg');
    return undefined;
  },
});

function usage(message: string): CrawlError {
  return new CrawlError('USAGE', message, {hint: 'See: crawl readseg --help'});
}

function checkParts(names: readonly string[]): readonly SegmentPart[] {
  const wrong = names.find((name) => !(segmentParts as readonly string[]).includes(name));
  if (wrong !== undefined) throw usage(`no part ${wrong}; parts: ${segmentParts.join(' ')}`);
  return names as readonly SegmentPart[]; // each was looked for in the list
}

/** Part after part, a record a row; with a machine's format one object a line that names its part. */
async function get(
  url: string,
  parts: readonly SegmentPart[],
  options: Parameters<typeof outputPlace>[0] & {
    readonly asOf: number | undefined;
    readonly segments: readonly string[];
  },
  context: CommandContext,
): Promise<1 | undefined> {
  const {out} = context;
  const place = outputPlace(options, context, 'readseg');
  if (place.file !== undefined || place.format === 'csv' || place.format === 'parquet')
    throw usage('--get writes records of several tables: to stdout, as table, json or jsonl');
  let rows = 0;
  await withSession({...options, about: url}, place, context, async (session) => {
    for (const part of parts.length > 0 ? parts : segmentParts.filter((name) => name !== 'content'))
      for await (const batch of (await session.query(partOfUrlSql(part, url))).batches)
        for (const row of batch) {
          await record(part, row);
          rows++;
        }
  });
  async function record(part: SegmentPart, row: OutputRow): Promise<void> {
    const shown = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, readable(name, value)]),
    );
    if (place.format !== 'table') await out.line(JSON.stringify(jsonValue({part, ...shown})));
    else {
      await out.write(`${rows === 0 ? '' : '\n'}${out.colours.bold(part)}\n`);
      await writeRecord(out, place.format as RowFormat, shown);
    }
  }
  if (rows > 0) return undefined;
  context.say(`no segment holds ${visible(url)}; why: crawl explain ${visible(url)}`);
  return exitCodes.failed;
}

/** Header blocks are text, whatever bytes a server has put into them. */
function readable(name: string, value: unknown): unknown {
  return name.endsWith('_header') && value instanceof Uint8Array
    ? Buffer.from(value).toString('latin1')
    : value;
}
