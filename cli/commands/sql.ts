import {createWriteStream} from 'node:fs';
import {readFile, rename, rm} from 'node:fs/promises';
import {resolve} from 'node:path';
import {text as readAll} from 'node:stream/consumers';
import {finished} from 'node:stream/promises';
import {openQueries, type QuerySession} from '../../jobs/query.ts';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import {type CommandContext, defineCommand, type Io} from '../command.ts';
import {Output, type RowFormat, writeRows} from '../output.ts';
import {prompt} from '../prompt.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: 'sql',
  summary: 'Ask the crawl a question in SQL; without a query, a prompt.',
  details: [
    'Tables: crawldb seeds fetchlist "fetch" (or captures) content parse outlinks linkdb robots hoststate hoststats',
    'hostrules runs; views: hostdb, ccindex (Common Crawl’s names), parse_all, outlinks_all, and fetch_live: what a',
    'fetch that still runs, or was stopped, has done so far, to the last second. Queries only read.',
    '',
    "url_key('URL') and host_key('HOST') give the keys of a URL, which is normalized first, and of a host.",
    'decode_payload(payload, content_encoding) undoes the content coding; payload_text(payload, content_encoding,',
    "content_type) makes a text of it, null where it is none; header_value(response_header, 'content-type') reads a",
    'header. These three take about a millisecond a page, on one thread: parse has text and title in its tables.',
  ].join('\n'),
  examples: [
    ['crawl sql "SELECT status, count(*) FROM crawldb GROUP BY ALL"', 'the crawldb by status'],
    [
      'crawl sql --format parquet -o pages.parquet "FROM parse"',
      'the newest parse of each segment as a file',
    ],
    ['crawl sql "SELECT status, reason, count(*) FROM fetch_live GROUP BY ALL"', 'a fetch while it runs'],
    ['crawl sql < question.sql', 'a query from a file'],
  ],
  options: {
    asOf: {kind: 'count', doc: 'Number of an older manifest to look at.'},
    segments: {kind: 'list', default: [], doc: 'Only these segments.'},
    format: {
      kind: 'choice',
      values: ['table', 'json', 'jsonl', 'csv', 'parquet'],
      doc: 'Form of the rows: table on a terminal and with no -o, jsonl with --json. parquet needs -o.',
    },
    output: {kind: 'text', short: 'o', doc: 'File to write; it appears when it is whole.'},
    file: {kind: 'text', short: 'f', doc: 'File that holds the query.'},
    allow: {kind: 'list', default: [], doc: 'Folders whose files the query may read too.'},
  },
  positionals: [{name: 'QUERY', doc: 'One statement. Absent: standard input, or a prompt on a terminal.'}],
  async run({options, positionals}, context) {
    const {io, globals, out, effects} = context;
    const output = options.output === undefined ? undefined : resolve(io.cwd, options.output);
    const format = options.format ?? formatOf(options.output, globals.json);
    if (format === 'parquet' && output === undefined)
      throw new CrawlError('USAGE', '--format parquet needs a file: -o FILE', {
        hint: 'See: crawl sql --help',
      });
    const sql = await readQuery(positionals[0], options.file, io);
    const {dir, config} = await context.crawl();
    const session = await openQueries({
      dir,
      config,
      signal: effects.signal,
      asOf: options.asOf,
      segments: options.segments,
      allow: options.allow.map((folder) => resolve(io.cwd, folder)),
      output,
    });
    try {
      if (sql === undefined) await prompt(session, context, format === 'parquet' ? 'table' : format);
      else if (output === undefined) await show(session, sql, format as RowFormat, out);
      else await save(session, sql, format, output, context);
    } finally {
      await session.close();
    }
    return undefined;
  },
});

/** By the file's name, else a table, else what --json asks for. */
function formatOf(output: string | undefined, json: boolean): RowFormat | 'parquet' {
  const ending =
    output === undefined ? undefined : /\.(parquet|csv|json|jsonl|ndjson)$/i.exec(output)?.[1]?.toLowerCase();
  if (ending === 'ndjson') return 'jsonl';
  if (ending !== undefined) return ending as RowFormat | 'parquet'; // one of the words of the pattern
  return json ? 'jsonl' : 'table';
}

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

async function show(session: QuerySession, sql: string, format: RowFormat, out: Output): Promise<void> {
  const {columns, batches} = await session.query(sql);
  if (format === 'table' && columns.join() === 'explain_key,explain_value') {
    for await (const rows of batches) for (const row of rows) await out.write(`${row.explain_value}\n`);
    return;
  }
  await writeRows(out, format, columns, batches);
}

async function save(
  session: QuerySession,
  sql: string,
  format: RowFormat | 'parquet',
  path: string,
  {say, io}: CommandContext,
): Promise<void> {
  const rows =
    format === 'parquet'
      ? await session.exportParquet(sql, path)
      : await saveText(session, sql, format, path, io);
  say(`wrote ${counted(rows, 'row')} to ${path}`);
}

async function saveText(
  session: QuerySession,
  sql: string,
  format: RowFormat,
  path: string,
  io: Io,
): Promise<number> {
  const part = `${path}.part`;
  const {columns, batches} = await session.query(sql);
  const stream = createWriteStream(part);
  const target = new Output(stream, io.env);
  try {
    const rows = await writeRows(target, format, columns, batches);
    await target.flush();
    stream.end();
    await finished(stream);
    await rename(part, path);
    return rows;
  } catch (error) {
    stream.destroy();
    await rm(part, {force: true}).catch(() => undefined); // there is no such folder, as the error below says
    if (systemCode(error) === undefined || systemCode(error) === 'ENOSPC') throw error;
    throw new CrawlError('NOT_WRITABLE', `${path} cannot be written: ${systemCode(error)}`, {
      facts: {path},
      hint: 'Choose another file.',
      cause: error,
    });
  }
}
