import {appendFile, readFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {isWholeStatement, onOneLine} from '../jobs/query/text.ts';
import type {QuerySession} from '../jobs/query.ts';
import type {CommandContext} from './command.ts';
import {asCrawlError, errorText} from './error-text.ts';
import {type RowFormat, writeRows} from './output.ts';
import {counted, span} from './words.ts';

const historyLines = 1000; // chosen: some weeks of work

/**
 * A prompt for queries, each ended by `;`. History is kept in ~/.crawl_sql_history. The newest manifest is bound for
 * each query. Ends with Ctrl-D, `.quit` or `exit`; Ctrl-C drops the line.
 */
export async function prompt(
  session: QuerySession,
  context: CommandContext,
  format: RowFormat,
): Promise<void> {
  const {io, out, say, effects, globals} = context;
  const path = join(io.env.HOME ?? homedir(), '.crawl_sql_history');
  const lines = createInterface({
    input: io.stdin,
    output: io.stdout,
    prompt: 'crawl> ',
    terminal: true,
    history: await readHistory(path),
    historySize: historyLines,
  });
  say('A query ends with ; — SHOW TABLES; lists the tables, DESCRIBE crawldb; its columns. Ctrl-D leaves.');
  let waiting = '';
  lines.on('SIGINT', () => {
    waiting = '';
    lines.write(null, {ctrl: true, name: 'u'});
    lines.setPrompt('crawl> ');
    lines.prompt();
  });
  lines.prompt();
  for await (const line of lines) {
    if (waiting === '' && /^\s*(\.quit|\.exit|exit|quit)\s*;?\s*$/i.test(line)) break;
    waiting = waiting === '' ? line : `${waiting}\n${line}`;
    if (isWholeStatement(waiting)) {
      const sql = waiting;
      waiting = '';
      await remember(path, sql);
      const started = effects.monotonic();
      try {
        await session.refresh();
        const {columns, batches} = await session.query(sql);
        const rows = await writeRows(out, format, columns, batches);
        say(`${counted(rows, 'row')} in ${span(effects.monotonic() - started)}`);
      } catch (error) {
        if (effects.signal.aborted) throw error;
        io.stderr.write(errorText(asCrawlError(error), globals.debug));
      }
    } else if (waiting.trim() === '') waiting = '';
    lines.setPrompt(waiting === '' ? 'crawl> ' : '   ... ');
    lines.prompt();
  }
  lines.close();
  await out.line('');
}

/** Newest first, as readline wants it. */
async function readHistory(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split('\n').filter(Boolean).slice(-historyLines).reverse();
  } catch {
    return []; // none yet, or not for us to read: the prompt works without
  }
}

async function remember(path: string, sql: string): Promise<void> {
  await appendFile(path, `${onOneLine(sql) ?? sql}\n`, {mode: 0o600}).catch(() => undefined); // a comfort, not data
}
