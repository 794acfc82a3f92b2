import {domainLevels, domainStatsSql} from '../../jobs/read/hosts.ts';
import {defineCommand} from '../command.ts';
import {answerQuery, readerOptions} from '../query-output.ts';

export const command = defineCommand({
  name: 'domainstats',
  summary: 'Count URLs by host, domain, public suffix, top-level domain, HTTP code, scheme or path.',
  details:
    'The first four come from the counts that updatedb keeps, at once; code and scheme take a scan of the crawldb. path tells\nfor each first folder of hosts with 1,000 URLs or more what it brought, and the share of its last 100 pages with\ncontent of their own; it reads their outcomes in all segments.',
  examples: [
    ['crawl domainstats --by suffix', 'how far the crawl has spread'],
    ['crawl domainstats --by path --top-n 20', 'which parts of large hosts are worth their requests'],
  ],
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
