import {resolve} from 'node:path';
import {dropParse} from '../../jobs/parse/drop.ts';
import {useParse} from '../../jobs/parse/use.ts';
import {parse} from '../../jobs/parse.ts';
import {readSnapshot} from '../../jobs/read/crawl.ts';
import {CrawlError} from '../../lib/errors.ts';
import {listParses} from '../../lib/store/parses.ts';
import {type CommandContext, defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {writeRows} from '../output.ts';
import {dropClosing, switchClosing} from '../parse-text.ts';
import {parseClosing} from '../rounds.ts';

export const command = defineCommand({
  name: parse.name,
  summary: parse.summary,
  details: [
    'Without a segment: every fetched one that is not yet applied and lacks the present parse.',
    '',
    'Parses of a segment stand beside each other, each under a name: one is current, which tables and later commands',
    'take. --use NAME makes another one current; crawl parse-diff shows what it would change. --drop NAME removes one.',
  ].join('\n'),
  examples: [
    ['crawl parse --all --as trial', 'everything again under a name, beside the present parse'],
    ['crawl parse 20260102030405', 'one segment, again if it is parsed'],
    [
      `crawl parse --as pdfs --where "content_mime_type = 'application/pdf'"`,
      'only some captures, to compare',
    ],
    [
      'crawl parse --with products.ts',
      'an extractor over all that is stored; its rows are the table products',
    ],
    ['crawl parse --use trial', 'the named parse is current from now on'],
    ['crawl parse --drop trial', 'the named parse goes, where it is not current'],
  ],
  options: {
    ...without(parse.options, 'segment'),
    use: {
      kind: 'text',
      doc: 'Make the parse of that name current, where a segment has it whole; read nothing.',
    },
    drop: {
      kind: 'text',
      doc: 'Remove the parse of that name, where a segment neither shows it nor has it applied; read nothing.',
    },
    list: {kind: 'flag', default: false, doc: 'List the parses of each segment.'},
    ...dryRunOption,
  },
  positionals: [{name: 'SEGMENT', doc: 'Segments to parse.', many: true}],
  async run({options: {use, drop, list, dryRun: plan, ...options}, positionals}, context) {
    const modes = [use !== undefined, drop !== undefined, list].filter(Boolean).length;
    if (modes > 0) refuseOthers(options, modes > 1);
    if (list) await showParses(positionals, context);
    else if (use !== undefined) {
      const report = await context.runJob(useParse, {use, segment: positionals}, dryRun(context, plan));
      await close(context, report, switchClosing(report, use));
    } else if (drop !== undefined) {
      const report = await context.runJob(dropParse, {drop, segment: positionals}, dryRun(context, plan));
      await close(context, report, dropClosing(report));
    } else {
      const extractors = options.with.map((file) => resolve(context.io.cwd, file));
      const report = await context.runJob(
        parse,
        {...options, segment: positionals, with: extractors},
        dryRun(context, plan),
      );
      await close(context, report, [parseClosing(report)]);
    }
    return undefined;
  },
});

/** --use, --drop and --list parse nothing, so what says how makes no sense with them, nor do they with each other. */
function refuseOthers(options: Readonly<Record<string, unknown>>, several: boolean): void {
  const given = Object.keys(parse.options).find((name) => {
    const value = options[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
  });
  if (several || given !== undefined)
    throw new CrawlError(
      'USAGE',
      `--use, --drop and --list go with no other option${given ? `: --${given}` : ''}`,
    );
}

const listColumns = ['segment', 'parse', 'captures', 'links', 'current', 'applied', 'complete', 'where'];

async function showParses(segments: readonly string[], context: CommandContext): Promise<void> {
  const {dir} = await context.crawl();
  const snapshot = await readSnapshot(dir, undefined, segments);
  const rows = await listParses(snapshot, segments.length > 0 ? segments : snapshot.segments);
  await writeRows(context.out, context.globals.json ? 'jsonl' : 'table', listColumns, [
    rows.map((row) => ({...row})),
  ]);
}
