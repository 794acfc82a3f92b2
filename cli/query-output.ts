import {createWriteStream} from 'node:fs';
import {rename, rm} from 'node:fs/promises';
import {resolve} from 'node:path';
import {finished} from 'node:stream/promises';
import {openQueries, type QuerySession, type QuerySettings, type TypedFilter} from '../jobs/query.ts';
import {CrawlError, systemCode} from '../lib/errors.ts';
import type {OptionDeclarations, OptionValues} from '../lib/options.ts';
import type {CommandContext, Io} from './command.ts';
import {Output, type OutputRow, type RowFormat, writeRows} from './output.ts';
import {notWritable, type OutputFile, outputFile} from './output-file.ts';
import {counted} from './words.ts';

/** Rows of a query to stdout or a file: what `crawl sql` and the readers have in common. */

/** Options of all of them. */
export const outputOptions = {
  format: {
    kind: 'choice',
    values: ['table', 'json', 'jsonl', 'csv', 'parquet'],
    doc: 'Form of the rows: table on a terminal and with no -o, jsonl with --json. parquet needs -o.',
  },
  output: {kind: 'text', short: 'o', doc: 'File to write; it appears when it is whole.'},
} as const satisfies OptionDeclarations;

/** Options of readers. */
export const readerOptions = {
  asOf: {kind: 'count', doc: 'Number of an older manifest to look at.'},
  ...outputOptions,
} as const satisfies OptionDeclarations;

type OutputOptions = OptionValues<typeof outputOptions>;

/** Where rows go, and in which form. */
export interface OutputPlace {
  readonly format: RowFormat | 'parquet';
  /** stdout if absent. */
  readonly file: OutputFile | undefined;
}

/** Throws USAGE for a form that needs a file, NOT_WRITABLE for a folder. */
export function outputPlace(
  {format, output}: OutputOptions,
  {io, globals}: CommandContext,
  command: string,
): OutputPlace {
  const file = output === undefined ? undefined : outputFile(resolve(io.cwd, output));
  const form = format ?? formatOf(output, globals.json);
  if (form === 'parquet' && file?.whole !== true)
    throw new CrawlError(
      'USAGE',
      `--format parquet needs a file: ${file ? `${file.path} is none` : '-o FILE'}`,
      {
        hint: `See: crawl ${command} --help`,
      },
    );
  return {format: form, file};
}

/** By the file's name, else a table, else what --json asks for. */
function formatOf(output: string | undefined, json: boolean): RowFormat | 'parquet' {
  const ending =
    output === undefined ? undefined : /\.(parquet|csv|json|jsonl|ndjson)$/i.exec(output)?.[1]?.toLowerCase();
  if (ending === 'ndjson') return 'jsonl';
  if (ending !== undefined) return ending as RowFormat | 'parquet'; // one of the words of the pattern
  return json ? 'jsonl' : 'table';
}

/** Sends the rows of one query to their place. */
export async function writeQuery(
  session: QuerySession,
  sql: string,
  place: OutputPlace,
  context: CommandContext,
): Promise<void> {
  if (place.file === undefined) await show(session, sql, place.format as RowFormat, context.out);
  else await save(session, sql, place.format, place.file, context);
}

/** The same in a session of its own, what a person said of the rows tried first: all that most readers do. */
export async function answerQuery(
  sql: string,
  options: OutputOptions & Pick<QuerySettings, 'asOf' | 'segments' | 'about'>,
  context: CommandContext,
  command: string,
  filter?: TypedFilter,
): Promise<void> {
  const place = outputPlace(options, context, command);
  await withSession(options, place, context, async (session) => {
    if (filter) await session.check(filter);
    await writeQuery(session, sql, place, context);
  });
}

/** A session over the crawl that is meant; closed after use. */
export async function withSession<R>(
  {
    asOf,
    segments,
    parse,
    allow,
    about,
  }: Pick<QuerySettings, 'asOf' | 'segments' | 'parse' | 'allow' | 'about'>,
  place: Pick<OutputPlace, 'file'>,
  context: CommandContext,
  use: (session: QuerySession) => Promise<R>,
): Promise<R> {
  const {dir, config} = await context.crawl();
  const session = await openQueries({
    dir,
    config,
    signal: context.effects.signal,
    asOf,
    segments,
    parse,
    about,
    ...(allow && {allow}),
    output: place.file?.path,
  });
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

/** One row for people, a column a line, what is null left out; else a row like others. */
export async function writeRecord(
  out: Pick<Output, 'write' | 'colours'>,
  format: RowFormat,
  row: OutputRow,
): Promise<void> {
  if (format !== 'table') {
    await writeRows(out, format, Object.keys(row), [[row]]);
    return;
  }
  const lines = Object.entries(row)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([column, value]) => ({column, value}));
  await writeRows(out, 'table', ['column', 'value'], [lines]);
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
  file: OutputFile,
  {say, io}: CommandContext,
): Promise<void> {
  const rows =
    format === 'parquet'
      ? await session.exportParquet(sql, file.path)
      : await saveText(session, sql, format, file, io);
  say(`wrote ${counted(rows, 'row')} to ${file.path}`);
}

async function saveText(
  session: QuerySession,
  sql: string,
  format: RowFormat,
  {path, whole}: OutputFile,
  io: Io,
): Promise<number> {
  const part = whole ? `${path}.part` : path;
  const {columns, batches} = await session.query(sql);
  const stream = createWriteStream(part);
  const target = new Output(stream, io.env);
  try {
    const rows = await writeRows(target, format, columns, batches);
    await target.flush();
    stream.end();
    await finished(stream);
    if (whole) await rename(part, path);
    return rows;
  } catch (error) {
    stream.destroy();
    if (whole) await rm(part, {force: true}).catch(() => undefined); // there is no such folder, as the error below says
    if (systemCode(error) === undefined || systemCode(error) === 'ENOSPC') throw error;
    throw notWritable(path, error);
  }
}
