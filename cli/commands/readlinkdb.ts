import {
  graphSql,
  inlinksSql,
  linkStatsSql,
  linksSql,
  mostLinkedSql,
  ranksSql,
} from '../../jobs/read/links.ts';
import {CrawlError} from '../../lib/errors.ts';
import {rankLevels} from '../../lib/schema/linkrank.ts';
import {defineCommand} from '../command.ts';
import {oneMode} from '../modes.ts';
import {answerQuery, readerOptions} from '../query-output.ts';

export const command = defineCommand({
  name: 'readlinkdb',
  summary: 'Read the linkdb: who links to a URL, the most linked pages, the graph of hosts or domains.',
  details: 'Without a mode: --stats. crawl invertlinks brings the linkdb up to date.',
  examples: [
    ['crawl readlinkdb --url https://example.org/', 'who links to it, with which words'],
    ['crawl readlinkdb --graph domain -o domains.csv', 'links between registered domains, as edges'],
  ],
  options: {
    stats: {kind: 'flag', default: false, doc: 'How many links, pages and hosts.'},
    url: {kind: 'text', doc: 'The links to a URL, which is normalized first.'},
    topN: {kind: 'count', doc: 'The pages that most others link to, so many.'},
    ranks: {kind: 'count', doc: 'The best ranks of the last linkrank, so many.'},
    level: {kind: 'choice', values: rankLevels, default: 'page', doc: 'With --ranks: what is ranked.'},
    graph: {
      kind: 'choice',
      values: ['host', 'domain'],
      doc: 'One row for each pair of hosts or domains with links.',
    },
    internal: {kind: 'flag', default: false, doc: 'With --graph: also links within a host or domain.'},
    dump: {kind: 'flag', default: false, doc: 'All links, in no order.'},
    regex: {kind: 'text', doc: 'With --dump: only links to URLs in which this pattern (RE2) is found.'},
    ...readerOptions,
  },
  positionals: [],
  async run({options}, context) {
    const {url, topN, graph, dump, regex, internal} = options;
    const mode = oneMode('readlinkdb', {
      '--stats': options.stats,
      '--url': url !== undefined,
      '--top-n': topN !== undefined,
      '--ranks': options.ranks !== undefined,
      '--graph': graph !== undefined,
      '--dump': dump,
    });
    const stray =
      regex !== undefined && !dump
        ? '--regex goes with --dump'
        : internal && graph === undefined
          ? '--internal goes with --graph'
          : undefined;
    if (stray !== undefined) throw new CrawlError('USAGE', stray, {hint: 'See: crawl readlinkdb --help'});
    const sql =
      mode === '--url'
        ? inlinksSql(url!)
        : mode === '--top-n'
          ? mostLinkedSql(topN!)
          : mode === '--ranks'
            ? ranksSql(options.level, options.ranks!)
            : mode === '--graph'
              ? graphSql(graph!, internal)
              : mode === '--dump'
                ? linksSql(regex)
                : linkStatsSql;
    await answerQuery(sql, {...options, about: url}, context, 'readlinkdb', {table: 'linkdb', regex});
    return undefined;
  },
});
