import {readSnapshot} from '../../jobs/read/crawl.ts';
import {diffViews, parseDiffSql} from '../../jobs/read/parses.ts';
import {checkParseName} from '../../lib/store/parses.ts';
import {defineCommand} from '../command.ts';
import {answerQuery, readerOptions} from '../query-output.ts';

export const command = defineCommand({
  name: 'parse-diff',
  summary: 'Show what differs between two parses: status, charset, titles, text, links.',
  details: [
    'Captures of segments that both have are compared, capture by capture; columns ending in _a are of the first',
    'parse, in _b of the second. Texts are equal or not; simhash_distance says how far apart they are, in bits.',
  ].join('\n'),
  examples: [
    ['crawl parse-diff v4-3f2a9c01 trial', 'how much of each kind, with one page for each'],
    [
      'crawl parse-diff trial --show links --format csv -o links.csv',
      'each link that the current parse has otherwise',
    ],
  ],
  options: {
    show: {kind: 'choice', values: diffViews, default: 'summary', doc: 'What a row is.'},
    segments: {kind: 'list', default: [], doc: 'Only these segments.'},
    ...readerOptions,
  },
  positionals: [
    {name: 'A', doc: 'Name of a parse.', required: true},
    {name: 'B', doc: 'Name of another; the current parse of each segment if absent.'},
  ],
  async run({options, positionals: [before, after]}, context) {
    const {dir} = await context.crawl();
    const snapshot = await readSnapshot(dir, options.asOf);
    for (const name of [before!, after]) if (name !== undefined) checkParseName(name, snapshot);
    await answerQuery(parseDiffSql(before!, after, options.show), options, context, 'parse-diff');
    return undefined;
  },
});
