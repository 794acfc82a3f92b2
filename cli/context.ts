import {findCrawl, readConfiguration} from '../jobs/config/open.ts';
import type {Effects, Log} from '../lib/effects.ts';
import {jsonLog, textLog} from '../lib/log.ts';
import type {CommandContext, Globals, Io, OpenedCrawl} from './command.ts';
import {exitCodeOfJob} from './job-exit.ts';
import type {Output} from './output.ts';
import {type ProgressBar, progressBar} from './progress.ts';

/** What a command works with: outputs, effects, the crawl that is meant, and a way to run jobs. */
export async function makeContext(
  io: Io,
  globals: Globals,
  out: Output,
  err: Output,
): Promise<CommandContext> {
  let bar: ProgressBar | undefined;
  const write = (line: string) => (bar ? bar.aside(() => err.tell(line)) : err.tell(line));
  const least = globals.quiet ? 'error' : globals.debug ? 'debug' : 'info';
  const now = () => io.effects?.now() ?? Date.now();
  const log: Log = globals.json ? jsonLog(write, least, now) : textLog(write, least);
  const effects = await effectsOf(io, log);
  let opened: Promise<OpenedCrawl> | undefined;
  const crawl = () => (opened ??= openConfigured(io, globals));
  return {
    io,
    globals,
    effects,
    out,
    crawl,
    say(text) {
      if (globals.quiet) return;
      write(globals.json ? `${JSON.stringify({event: 'message', text})}\n` : `${text}\n`);
    },
    async runJob(job, options, settings = {}) {
      const {dir, config} = await crawl();
      const [{runJob}, {embeddedExecutor}] = await Promise.all([
        import('../jobs/runner/run-job.ts'),
        import('../jobs/runner/executor.ts'),
      ]);
      const shown = err.isTerminal && !globals.quiet && !globals.json;
      bar = shown ? progressBar(job.name, io.stderr, effects.monotonic) : undefined;
      try {
        return await runJob(job, options, {
          dir,
          config,
          effects: settings.terse && !globals.json && !globals.debug ? withoutInfo(effects) : effects,
          executor: embeddedExecutor(
            job.worker === undefined || config.parse.workers === undefined
              ? {}
              : {concurrency: Math.max(1, config.parse.workers)},
          ),
          progress: (point) => bar?.report(point),
          exitCode: (ended) => exitCodeOfJob(ended, effects.signal),
          ...(settings.dryRun ? {dryRun: settings.dryRun} : {}),
        });
      } finally {
        bar?.stop();
        bar = undefined;
      }
    },
  };
}

function withoutInfo(effects: Effects): Effects {
  return {
    ...effects,
    log(level, event, fields) {
      if (level === 'warn' || level === 'error') effects.log(level, event, fields);
    },
  };
}

async function effectsOf(io: Io, log: Log): Promise<Effects> {
  const signal = io.signal ?? new AbortController().signal;
  if (io.effects) return {stdin: io.stdin, ...io.effects, log};
  const {realEffects} = await import('../jobs/effects.ts');
  return realEffects(log, signal, io);
}

async function openConfigured(io: Io, globals: Globals): Promise<OpenedCrawl> {
  const dir = await findCrawl({given: globals.crawl, env: io.env, cwd: io.cwd});
  return {dir, ...(await readConfiguration(dir, {env: io.env, flags: globals.settings}))};
}
