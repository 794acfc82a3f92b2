import {domainLevels, domainStatsSql} from '../../jobs/read-hosts.ts';
import {defineCommand} from '../command.ts';
import {answerQuery, readerOptions} from '../query-output.ts';

export const command = defineCommand({
  name: 'domainstats',
  summary: 'Count URLs by host, domain, public suffix, top-level domain, HTTP code or scheme.',
  details:
    'The first four come from the counts that updatedb keeps, at once; code and scheme take a scan of the crawldb.',
  examples: [['crawl domainstats --by suffix', 'how far the crawl has spread']],
  options: {
    by: {kind: 'choice', values: domainLevels, default: 'domain', doc: 'What is counted by.'},
    topN: {kind: 'count', doc: 'So many rows at most, the largest.'},
    ...readerOptions,
  },
  positionals: [],
  async run({options}, context) {
    await answerQuery(domainStatsSql(options.by, options.topN), options, context, 'domainstats');
    return undefined;
  },
});
