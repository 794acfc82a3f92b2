import {settingsByName} from '../../jobs/config/open.ts';
import {configReport} from '../../jobs/config/report.ts';
import {CrawlError} from '../../lib/errors.ts';
import {nearest} from '../../lib/nearest.ts';
import {defineCommand} from '../command.ts';
import {writeRows} from '../output.ts';

export const command = defineCommand({
  name: 'config',
  summary: 'Show each setting with its value and origin.',
  details: 'A flag wins over the environment, that over crawl.yaml, that over the default.',
  examples: [
    ['crawl config politeness', 'one section'],
    ['crawl config --changed', 'what is not at its default'],
  ],
  options: {changed: {kind: 'flag', default: false, doc: 'Only settings that are not at their default.'}},
  positionals: [{name: 'SETTING', doc: 'A section or a setting, as politeness or politeness.min_delay.'}],
  async run({options, positionals}, {crawl, globals, out}) {
    const prefix = positionals[0] ?? '';
    const opened = await crawl();
    const rows = configReport(opened, prefix);
    if (rows.length === 0) {
      const known = [...settingsByName.keys()];
      const near = nearest(prefix, [...known, ...new Set(known.map((name) => name.split('.')[0]!))]);
      throw new CrawlError(
        'USAGE',
        `no setting ${prefix}${near === undefined ? '' : `; did you mean ${near}?`}`,
        {hint: 'See: crawl config --help'},
      );
    }
    const shown = options.changed ? rows.filter(({origin}) => origin !== 'default') : rows;
    const columns = globals.json
      ? ['setting', 'value', 'origin', 'environment', 'doc']
      : ['setting', 'value', 'origin'];
    await writeRows(out, globals.json ? 'jsonl' : 'table', columns, [shown.map((row) => ({...row}))]);
    return undefined;
  },
});
