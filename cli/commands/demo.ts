import {resolve} from 'node:path';
import {demoFindings, demoHostRows, demoSeeds, leastPause, openDemo} from '../../jobs/demo.ts';
import {parseUrl} from '../../lib/url/parse.ts';
import {type CommandArguments, type CommandContext, defineCommand, type Globals} from '../command.ts';
import {makeContext} from '../context.ts';
import {type ExitCode, exitCodes} from '../exit-codes.ts';
import {Output, tableText} from '../output.ts';
import {count, span} from '../words.ts';
import {command as runRounds} from './run.ts';

export const command = defineCommand({
  name: 'demo',
  summary: 'Crawl an embedded demo web on loopback, or with URLs a real one, into data/.',
  details: [
    'Without URLs: three small hosts are served on loopback and crawled politely to their end, into data/demo.',
    'With URLs: they are crawled into data/HOST, which is gone on with if it is there.',
  ].join('\n'),
  examples: [
    ['npm start', 'the demo web'],
    ['npm start -- https://example.org/ --rounds 2 --contact you@example.org', 'two rounds of a real site'],
  ],
  options: {
    rounds: {kind: 'count', min: 1, doc: 'Most rounds. Default: 3 with URLs, until nothing is due without.'},
  },
  positionals: [{name: 'URL', doc: 'Seeds.', many: true}],
  async run({options, positionals}, context) {
    return positionals.length === 0
      ? crawlDemo(context, options.rounds)
      : crawlSeeds(context, positionals, options.rounds);
  },
});

/** The same program for another crawl, with further settings. */
async function contextFor(
  context: CommandContext,
  dir: string,
  settings: Readonly<Record<string, readonly string[]>>,
): Promise<CommandContext> {
  const more: Globals['settings'] = Object.entries(settings).map(([key, texts]) => ({
    flag: '--set',
    key,
    texts,
  }));
  const globals = {...context.globals, crawl: dir, settings: [...context.globals.settings, ...more]};
  return makeContext(context.io, globals, context.out, new Output(context.io.stderr, context.io.env));
}

async function crawlSeeds(
  context: CommandContext,
  urls: readonly string[],
  rounds = 3,
): Promise<ExitCode | undefined> {
  const host = parseUrl(urls[0]!)?.hostname ?? 'crawl';
  const dir = resolve(context.io.cwd, 'data', host.replaceAll(/[^\w.-]/g, '_'));
  return runRounds.run(
    {options: roundOptions(rounds), positionals: urls},
    await contextFor(context, dir, {}),
  );
}

/** Options of `crawl run` with all others at their defaults. */
function roundOptions(rounds: number): CommandArguments<typeof runRounds.options>['options'] {
  return {
    rounds,
    topN: undefined,
    maxPerHost: undefined,
    window: undefined,
    invertlinks: true,
  };
}

async function crawlDemo(context: CommandContext, rounds = 20): Promise<ExitCode | undefined> {
  const {effects, say, out} = context;
  const dir = resolve(context.io.cwd, 'data', 'demo');
  const started = effects.monotonic();
  const {server, settings} = await openDemo(dir);
  try {
    say(
      `A news site, a shop and a calendar without end are served at ${server.address}; the crawl goes to data/demo.`,
    );
    const inside = await contextFor(context, dir, settings);
    const code = await runRounds.run({options: roundOptions(rounds), positionals: demoSeeds}, inside);
    if (code !== undefined && code !== exitCodes.done) return code;
    const {config} = await inside.crawl();
    const hosts = await demoHostRows({dir, config, signal: effects.signal});
    const total = (name: 'pages' | 'duplicates' | 'unique' | 'refused'): number =>
      hosts.reduce((sum, host) => sum + host[name], 0);
    const findings = demoFindings(hosts, server.seen);
    if (context.globals.json) {
      await out.line(
        JSON.stringify({
          hosts,
          least_pause_ms: leastPause(server.seen),
          requests: server.seen.length,
          findings,
        }),
      );
    } else {
      await out.write(
        `\n${tableText(
          out.colours,
          ['host', 'pages', 'unique', 'duplicates', 'refused', 'seen_again', 'waiting'],
          hosts.map((host) => ({...host})),
        )}\n`,
      );
      await out.write(
        [
          `${count(total('pages'))} pages in ${span(effects.monotonic() - started)}: ${total('unique')} unique, ${total('duplicates')} exact duplicates (print copies).`,
          `${total('refused')} URL refused by robots.txt and never asked for; the endless calendar was cut at 80 pages.`,
          `The servers saw ${count(server.seen.length)} requests, no two to one host closer than ${leastPause(server.seen).toFixed(0)} ms (asked for: 200 ms).`,
          '',
          'Try next:',
          `  npx crawl -C data/demo status`,
          `  npx crawl -C data/demo sql "SELECT url, duplicate_of FROM crawldb WHERE status = 'duplicate' LIMIT 5"`,
          `  npx crawl -C data/demo explain http://news.test/private/secret`,
          '',
        ].join('\n'),
      );
    }
    for (const finding of findings) say(`not as expected: ${finding}`);
    return findings.length === 0 ? undefined : exitCodes.findings;
  } finally {
    await server.close();
  }
}
