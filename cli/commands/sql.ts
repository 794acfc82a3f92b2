import {readFile, stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import {text as readAll} from 'node:stream/consumers';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import {defineCommand, type Io} from '../command.ts';
import {prompt} from '../prompt.ts';
import {outputOptions, outputPlace, withSession, writeQuery} from '../query-output.ts';

export const command = defineCommand({
  name: 'sql',
  summary: 'Ask the crawl a question in SQL; without a query, a prompt.',
  details: [
    'Tables: crawldb seeds fetchlist "fetch" (or captures) content parse outlinks refusals linkdb linkrank robots',
    'hoststate hoststats hostrules runs; views: hostdb, ccindex (Common Crawl’s names), parse_all, outlinks_all, and fetch_live: what a',
    'fetch that still runs, or was stopped, has done so far, to the last second. Queries only read.',
    '',
    "parse_of('NAME') and outlinks_of('NAME') are the rows of any parse by its name; --parse NAME shows that one as parse",
    'and outlinks, of the segments that have it.',
    '',
    "url_key('URL') and host_key('HOST') give the keys of a URL, which is normalized first, and of a host, also of a URL’s.",
    'decode_payload(payload, content_encoding) undoes the content coding; payload_text(payload, content_encoding,',
    "content_type) makes a text of it, null where it is none; header_value(response_header, 'content-type') reads a",
    'header. These three take about a millisecond a page, on one thread: parse has text and title in its tables.',
    'url_family(url) is the family of a URL, as crawl traps names it.',
  ].join('\n'),
  examples: [
    ['crawl sql "SELECT status, count(*) FROM crawldb GROUP BY ALL"', 'the crawldb by status'],
    [
      'crawl sql --format parquet -o pages.parquet "FROM parse"',
      'the newest parse of each segment as a file',
    ],
    [
      'crawl sql "SELECT url_host_name, url_family(url), reason, count(*) FROM refusals GROUP BY ALL ORDER BY 4 DESC"',
      'what updatedb did not add',
    ],
    ['crawl sql "SELECT status, reason, count(*) FROM fetch_live GROUP BY ALL"', 'a fetch while it runs'],
    [
      `crawl sql "SELECT a.url, a.title, b.title FROM parse a JOIN parse_of('trial') b USING (capture_id) WHERE a.title <> b.title"`,
      'two parses side by side',
    ],
    ['crawl sql < question.sql', 'a query from a file'],
  ],
  options: {
    asOf: {kind: 'count', doc: 'Number of an older manifest to look at.'},
    segments: {kind: 'list', default: [], doc: 'Only these segments.'},
    parse: {
      kind: 'text',
      doc: 'The parse that parse and outlinks show; the current one of each segment if absent.',
    },
    ...outputOptions,
    file: {kind: 'text', short: 'f', doc: 'File that holds the query.'},
    allow: {kind: 'list', default: [], doc: 'Folders whose files the query may read too.'},
  },
  positionals: [{name: 'QUERY', doc: 'One statement. Absent: standard input, or a prompt on a terminal.'}],
  async run({options, positionals}, context) {
    const {io} = context;
    const place = outputPlace(options, context, 'sql');
    const sql = await readQuery(positionals[0], options.file, io);
    const {asOf, segments, parse} = options;
    const allow = await Promise.all(options.allow.map((folder) => folderOf(resolve(io.cwd, folder))));
    await withSession({asOf, segments, parse, allow}, place, context, (session) => {
      if (sql !== undefined) return writeQuery(session, sql, place, context);
      return prompt(session, context, place.format === 'parquet' ? 'table' : place.format);
    });
    return undefined;
  },
});

async function readQuery(
  given: string | undefined,
  file: string | undefined,
  io: Io,
): Promise<string | undefined> {
  if (given !== undefined && file !== undefined)
    throw new CrawlError('USAGE', 'both a query and --file are given', {hint: 'See: crawl sql --help'});
  if (given !== undefined && given !== '-') return given;
  if (file !== undefined) {
    try {
      return await readFile(resolve(io.cwd, file), 'utf8');
    } catch (error) {
      throw new CrawlError(
        'INPUT_UNREADABLE',
        `${file} cannot be read: ${systemCode(error) ?? String(error)}`,
      );
    }
  }
  return given !== '-' && io.stdin.isTTY === true ? undefined : readAll(io.stdin);
}

/** Throws INPUT_UNREADABLE for what is no folder: the query would only tell that a file may not be read. */
async function folderOf(path: string): Promise<string> {
  const problem = await stat(path).then(
    (found) => (found.isDirectory() ? undefined : 'no folder'),
    (error: unknown) => systemCode(error) ?? String(error),
  );
  if (problem === undefined) return path;
  throw new CrawlError('INPUT_UNREADABLE', `--allow: ${path} cannot be read: ${problem}`);
}
