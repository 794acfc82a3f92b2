import {readPolicies} from '../../jobs/config/policies.ts';
import {hostNameOf} from '../../jobs/host/name.ts';
import {homepagesSql, hostsSql, unknownHostsSql} from '../../jobs/read/hosts.ts';
import {defineCommand} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {oneMode} from '../modes.ts';
import {outputPlace, readerOptions, withSession, writeQuery} from '../query-output.ts';

export const command = defineCommand({
  name: 'readhostdb',
  summary: 'Read the hostdb: counts, politeness and robots.txt of hosts.',
  details:
    'Hosts with most URLs first. What of it decides whether a host may be asked now: crawl host HOST. Exit code 1 if one of the named hosts is not known.',
  examples: [
    ['crawl readhostdb --where "failures > 2" --hostnames', 'hosts that fail'],
    ['crawl readhostdb www.example.org --json', 'all that is known of one'],
  ],
  options: {
    hostnames: {kind: 'flag', default: false, doc: 'Names only.'},
    homepages: {
      kind: 'flag',
      default: false,
      doc: 'The URL of the home page, of hosts where it was fetched.',
    },
    where: {
      kind: 'text',
      doc: 'Only hosts for which this condition in SQL holds, over the columns of hostdb.',
    },
    topN: {kind: 'count', doc: 'So many hosts at most.'},
    ...readerOptions,
  },
  positionals: [{name: 'HOST', doc: 'Only these hosts; names or URLs.', many: true}],
  async run({options, positionals}, context) {
    const mode = oneMode('readhostdb', {'--hostnames': options.hostnames, '--homepages': options.homepages});
    const {dir, config} = await context.crawl();
    const {policy} = await readPolicies(dir, config);
    const {where, topN} = options;
    const filter = {hosts: positionals.map((text) => hostNameOf(text, policy)), where, topN};
    const sql =
      mode === '--homepages'
        ? homepagesSql(filter)
        : hostsSql(filter, mode === '--hostnames' ? 'url_host_name' : '*');
    const place = outputPlace(options, context, 'readhostdb');
    return withSession(options, place, context, async (session) => {
      await session.check({table: 'hostdb', where});
      await writeQuery(session, sql, place, context);
      if (filter.hosts.length === 0) return undefined;
      let unknown = 0;
      for await (const rows of (await session.query(unknownHostsSql(filter.hosts))).batches)
        for (const {name} of rows) {
          context.say(`the crawl knows no host ${name}`);
          unknown++;
        }
      return unknown === 0 ? undefined : exitCodes.failed;
    });
  },
});
