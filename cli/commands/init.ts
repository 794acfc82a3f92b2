import {resolve} from 'node:path';
import {initCrawl} from '../../jobs/config/init-crawl.ts';
import {defineCommand} from '../command.ts';

export const command = defineCommand({
  name: 'init',
  summary: 'Make a crawl: a folder with a commented crawl.yaml.',
  details: 'Settings given with --contact and --set are written into the file.',
  examples: [['crawl init my-crawl --contact https://example.org/bot', 'a crawl that may fetch']],
  options: {},
  positionals: [{name: 'DIR', doc: 'Folder of the crawl; made if it is not there. Default: this folder.'}],
  async run({positionals}, {io, globals, out, say}) {
    const name = positionals[0] ?? globals.crawl ?? '.';
    const given = Object.fromEntries(globals.settings.map(({key, texts}) => [key, texts.join(',')]));
    const dir = await initCrawl(resolve(io.cwd, name), given);
    if (globals.json) await out.line(JSON.stringify({dir}));
    const into = name === '.' ? '' : ` -C ${name}`;
    say(`made a crawl in ${dir}; next: crawl inject${into} URL or FILE`);
    if (given['agent.contact'] === undefined)
      say('set agent.contact in crawl.yaml before you fetch, so that webmasters can reach you');
    return undefined;
  },
});
