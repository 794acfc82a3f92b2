import {type CatPart, catUrl} from '../../jobs/cat.ts';
import {CrawlError} from '../../lib/errors.ts';
import {defineCommand} from '../command.ts';
import {visible} from '../words.ts';

export const command = defineCommand({
  name: 'cat',
  summary: 'Print the stored page of a URL: its body, headers or text.',
  details: 'The newest capture that has it. The body comes with its content coding (gzip …) undone.',
  examples: [
    ['crawl cat https://example.org/ > page.html', 'the body'],
    ['crawl cat --headers https://example.org/', 'request and response headers as sent and received'],
  ],
  options: {
    segment: {kind: 'text', doc: 'Only this segment.'},
    raw: {kind: 'flag', default: false, doc: 'The payload as received, content coding and all.'},
    headers: {kind: 'flag', default: false, doc: 'Request and response headers as sent and received.'},
    text: {kind: 'flag', default: false, doc: 'The text that the parser found.'},
  },
  positionals: [{name: 'URL', doc: 'A URL; it is normalized first.', required: true}],
  async run({options, positionals}, context) {
    const {out, say, effects} = context;
    const parts = (['raw', 'headers', 'text'] as const).filter((name) => options[name]);
    if (parts.length > 1)
      throw new CrawlError('USAGE', `only one of ${parts.map((name) => `--${name}`).join(', ')}`, {
        hint: 'See: crawl cat --help',
      });
    const part: CatPart = parts[0] ?? 'body';
    const {dir, config} = await context.crawl();
    const found = await catUrl(positionals[0]!, part, {
      dir,
      config,
      signal: effects.signal,
      only: options.segment,
    });
    for (const note of found.notes) say(note);
    if (context.globals.json)
      await out.line(JSON.stringify({...found, bytes: Buffer.from(found.bytes).toString('base64')}));
    else if (!out.isTerminal) await out.write(found.bytes);
    else if (part === 'raw' || !isText(found.bytes))
      throw new CrawlError('USAGE', `${found.content_mime_type ?? 'this payload'} is not for a terminal`, {
        hint: 'Send it to a file: crawl cat URL > FILE',
      });
    // Pages must not steer the terminal
    else await out.line(Buffer.from(found.bytes).toString('utf8').split('\n').map(line).join('\n'));
    return undefined;
  },
});

function line(text: string): string {
  return visible(text.replace(/\r$/, '')).replaceAll('\\t', '\t');
}

function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, 4096).includes(0);
}
