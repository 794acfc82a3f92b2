import {explain} from '../../jobs/explain.ts';
import {defineCommand} from '../command.ts';
import {answer, explanationText} from '../explain-text.ts';
import {jsonValue} from '../output.ts';

export const command = defineCommand({
  name: 'explain',
  summary: 'Tell what is known of a URL, and why it was or was not fetched.',
  details:
    'First the answer, then what it rests on: normalization, scope, crawldb, selections, fetches, links to it.',
  options: {asOf: {kind: 'count', doc: 'Number of an older manifest to look at.'}},
  positionals: [{name: 'URL', doc: 'A URL; it is normalized first.', required: true}],
  async run({options, positionals}, context) {
    const {out, effects} = context;
    const {dir, config} = await context.crawl();
    const found = await explain(positionals[0]!, {dir, config, signal: effects.signal, asOf: options.asOf});
    const now = effects.now();
    if (context.globals.json)
      await out.line(JSON.stringify({answer: answer(found, now), ...(jsonValue(found) as object)})); // an object stays one
    else await out.write(explanationText(found, {now, colours: out.colours}));
    return undefined;
  },
});
