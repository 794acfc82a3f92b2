import {createReadStream, readFileSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {readPolicies} from '../../jobs/config/policies.ts';
import {readPolicyTexts} from '../../jobs/config/policy-texts.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import {hopTypes} from '../../lib/schema/status.ts';
import {stays} from '../../lib/scope/scope.ts';
import {BadQuestion, type Checker, type CheckSettings, type Question} from '../checker.ts';
import {type CommandArguments, type CommandContext, defineCommand} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {counted} from '../words.ts';
import {robotsChecker} from './check-robots.ts';
import {scopeChecker} from './check-scope.ts';
import {isRemote, remoteSitemap, sitemapChecker} from './check-sitemap.ts';
import {urlChecker} from './check-url.ts';

const kinds = ['url', 'scope', 'robots', 'sitemap', 'parse'] as const;
type Kind = (typeof kinds)[number];

const options = {
  jsonl: {
    kind: 'flag',
    default: false,
    doc: 'Read questions, one JSON object a line, from the files or standard input, and answer one a line.',
  },
  base: {kind: 'text', doc: 'url: the URL that relative ones are relative to.'},
  from: {kind: 'text', doc: 'scope: the page that links to it.'},
  seed: {kind: 'text', doc: 'scope: the seed that it was reached from.'},
  depth: {kind: 'count', doc: 'scope: links from the seed.'},
  hop: {kind: 'choice', values: hopTypes, doc: 'scope: how it is reached, in Heritrix’s letters.'},
  stay: {kind: 'choice', values: stays, doc: 'scope: what the seed line says.'},
  agent: {kind: 'text', doc: 'robots: the product token that asks; agent.name if absent.'},
  url: {
    kind: 'text',
    doc: 'parse: URL of the document; http://localhost/ if absent. sitemap: URL of the file, for the host rule.',
  },
  contentType: {kind: 'text', doc: 'parse: what its Content-Type header says.'},
  with: {kind: 'list', default: [], doc: 'parse: extractors to try on it.'},
} as const;

export const command = defineCommand({
  name: 'check',
  summary: 'Try URLs, scope rules, robots.txt files, sitemaps and documents, and see what decides.',
  details: [
    'Takes the settings and rule files of the crawl, or the defaults where there is no crawl. Asks no server, but for',
    'the URL of a sitemap: that is asked for as a fetch would, robots.txt first, and nothing of it is stored.',
    'With --jsonl a question is an object: url {"url","base"}; scope {"url","from","seed","depth","hop","stay"};',
    'robots {"robots" or "robots_base64","agent","url"}; sitemap {"sitemap" or "sitemap_base64","url"};',
    'parse {"file" or "body" or "body_base64","url","content_type","content_encoding"}. A line that is no question is',
    'answered {"error"}, and the exit code is then 6.',
  ].join('\n'),
  examples: [
    ['crawl check url "HTTP://Example.org/%7Ea?utm_source=x#top"', 'each step of normalization'],
    ['crawl check scope --seed https://example.org/ https://example.com/', 'the deciding rule'],
    ['crawl check robots robots.txt https://example.org/private/', 'the deciding line'],
    ['crawl check sitemap sitemap.xml.gz', 'entries, and errors with their place'],
    ['crawl check sitemap https://example.org/sitemap.xml', 'the same, asked for politely'],
    ['crawl check parse page.html --url https://example.org/', 'charset, title, text, links'],
    ['crawl check parse page.html --with products.ts', 'the same, and the rows of an extractor'],
    ['crawl cat URL | crawl check parse - --url URL', 'a page that the crawl holds'],
    ['crawl check url --jsonl < urls.jsonl', 'many'],
  ],
  options,
  positionals: [
    {name: 'WHAT', doc: kinds.join(', '), required: true},
    {
      name: 'ITEM',
      doc: 'URLs; for robots a file, then URLs; for sitemap files or URLs; for parse and with --jsonl files. - is standard input.',
      many: true,
    },
  ],
  async run(args, context) {
    const [word, ...items] = args.positionals;
    const kind = kinds.find((one) => one === word);
    if (kind === undefined)
      throw new CrawlError('USAGE', `cannot check ${word}; it is one of: ${kinds.join(', ')}`, {
        hint: 'See: crawl check --help',
      });
    const settings = await settingsOf(context);
    if (kind !== 'parse' && args.options.with.length > 0)
      throw new CrawlError('USAGE', '--with is for check parse alone');
    const checker = await checkerOf(kind, settings, context, args.options.with);
    if (args.options.jsonl) return answerLines(checker, items, context);
    if (items.length === 0)
      throw new CrawlError(
        'USAGE',
        `nothing to check: give ${kind === 'sitemap' || kind === 'parse' ? 'files' : 'URLs'}, or --jsonl`,
      );
    for (const question of await questionsOf(kind, items, args.options, context, settings)) {
      const answer = await answerGiven(question, checker);
      await context.out.line(
        context.globals.json ? JSON.stringify(answer) : checker.show(question, answer, context.out.colours),
      );
    }
    return undefined;
  },
});

/** Where no crawl is named and none is here, the defaults hold. */
async function settingsOf(context: CommandContext): Promise<CheckSettings> {
  const {io, globals} = context;
  try {
    const {dir, config} = await context.crawl();
    return {dir, config};
  } catch (error) {
    const named = globals.crawl ?? io.env.CRAWL_DIR;
    if (named || !(error instanceof CrawlError) || error.code !== 'CRAWL_NOT_FOUND') throw error;
    return {dir: io.cwd, config: loadConfig({env: io.env, flags: globals.settings}).config};
  }
}

async function checkerOf(
  kind: Kind,
  settings: CheckSettings,
  {io: {cwd}, effects}: CommandContext,
  extractors: readonly string[],
): Promise<Checker> {
  if (kind === 'robots') return robotsChecker(settings);
  if (kind === 'sitemap') return sitemapChecker();
  if (kind === 'parse') {
    const {parseChecker} = await import('./check-parse.ts'); // the parsers: the other kinds do without
    const texts = await readPolicyTexts(settings.config, settings.dir);
    const {policy} = await readPolicies(settings.dir, settings.config);
    const files = extractors.map((file) => resolve(cwd, file));
    const trial =
      files.length === 0
        ? undefined
        : await (await import('../../jobs/extract/check.ts')).tryExtractors(files, {
            ...settings,
            texts,
            effects,
          });
    const read = (name: string) => fileOfQuestion(resolve(cwd, name));
    return parseChecker({...settings, policy, texts, readFile: read, trial});
  }
  const {policy, scope} = await readPolicies(settings.dir, settings.config);
  return kind === 'url' ? urlChecker(policy) : scopeChecker(policy, scope);
}

async function questionsOf(
  kind: Kind,
  items: readonly string[],
  {base, from, seed, depth, hop, stay, agent, url, contentType}: CommandArguments<typeof options>['options'],
  {io, effects}: CommandContext,
  settings: CheckSettings,
): Promise<Question[]> {
  const read = async (name: string) =>
    (name === '-' ? await buffer(io.stdin) : await readBytes(resolve(io.cwd, name))).toString('base64');
  switch (kind) {
    case 'url':
      return items.map((url) => ({url, base}));
    case 'scope':
      return items.map((url) => ({url, from, seed, depth, hop, stay}));
    case 'robots': {
      const [file = '', ...urls] = items;
      if (urls.length === 0)
        throw new CrawlError('USAGE', 'robots needs a file and URLs: crawl check robots FILE URL…');
      const robots_base64 = await read(file);
      return urls.map((url) => ({robots_base64, url, agent}));
    }
    case 'sitemap':
      return inTurn(items, async (name) =>
        isRemote(name)
          ? remoteSitemap(name, settings, effects)
          : {sitemap_base64: await read(name), url, name},
      );
    case 'parse': {
      const remote = items.find(isRemote);
      if (remote !== undefined)
        throw new CrawlError('USAGE', `check asks no server: ${remote} is no file`, {
          hint: `What the crawl holds of it: crawl cat ${remote} | crawl check parse - --url ${remote}`,
        });
      return Promise.all(
        items.map(async (name) => ({
          body_base64: await read(name),
          url,
          content_type: contentType,
          name: name === '-' ? undefined : name,
        })),
      );
    }
  }
}

/** One after the other, since two may be of one host. */
async function inTurn<T>(items: readonly string[], make: (item: string) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (const item of items) made.push(await make(item));
  return made;
}

/** The answer to a question made of arguments: what is wrong with them is an error of usage. */
async function answerGiven(question: Question, checker: Checker): Promise<object> {
  try {
    return await checker.ask(question);
  } catch (error) {
    if (error instanceof BadQuestion) throw new CrawlError('USAGE', error.message);
    throw error;
  }
}

function fileOfQuestion(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new BadQuestion(`"file" cannot be read: ${systemCode(error) ?? String(error)}`);
  }
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): CrawlError {
  return new CrawlError('INPUT_UNREADABLE', `${path} cannot be read: ${systemCode(error) ?? String(error)}`, {
    facts: {path},
    cause: error,
  });
}

/** Bytes of answers that are written together. Chosen: what a pipe holds. */
const batchSize = 65_536;

async function answerLines(
  checker: Checker,
  files: readonly string[],
  {io, out, say}: CommandContext,
): Promise<typeof exitCodes.findings | undefined> {
  let waiting = '';
  let bad = 0;
  for (const file of files.length === 0 ? ['-'] : files) {
    const path = resolve(io.cwd, file);
    try {
      for await (const line of linesOf(file === '-' ? io.stdin : createReadStream(path))) {
        if (line.trim() === '') continue;
        const answer = await answerTo(line, checker);
        if ('error' in answer) bad++;
        waiting += `${JSON.stringify(answer)}\n`;
        if (waiting.length < batchSize) continue;
        await out.write(waiting);
        waiting = '';
      }
    } catch (error) {
      if (systemCode(error) === undefined || systemCode(error) === 'EPIPE') throw error;
      throw unreadable(path, error);
    }
  }
  if (waiting !== '') await out.write(waiting);
  if (bad === 0) return undefined;
  say(`${counted(bad, 'line')} without a question`);
  return exitCodes.findings;
}

async function answerTo(line: string, checker: Checker): Promise<object> {
  let question: unknown;
  try {
    question = JSON.parse(line);
  } catch (error) {
    return {error: `not JSON: ${error instanceof Error ? error.message : String(error)}`};
  }
  if (typeof question !== 'object' || question === null || Array.isArray(question))
    return {error: 'not an object'};
  try {
    return await checker.ask(question as Question); // any object
  } catch (error) {
    if (error instanceof BadQuestion) return {error: error.message};
    throw error;
  }
}

/** Lines by LF alone, since JSON texts may hold any other line end as it is. */
async function* linesOf(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, {stream: true});
    const lines = text.split('\n');
    lines[0] = rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
