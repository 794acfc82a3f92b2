import {type LevelFacts, linkrank} from '../../jobs/linkrank.ts';
import {closing, counterOf} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption} from '../job-command.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: linkrank.name,
  summary: linkrank.summary,
  details: [
    'Over the links of the linkdb, so run crawl invertlinks first. The result is the table linkrank: rank, which adds up',
    'to 1, and score, whose mean is 1. Dead ends give to all alike; links to oneself do not count. A page that the',
    'crawldb does not know is ranked too.',
  ].join('\n'),
  examples: [
    ['crawl linkrank', 'pages, hosts and domains'],
    ['crawl linkrank --levels page --set-score', 'and make ranks the scores that generate goes by'],
    ['crawl readlinkdb --ranks 20 --level domain', 'the best domains'],
  ],
  options: {...linkrank.options, ...dryRunOption},
  positionals: [],
  async run({options}, context) {
    const {dryRun: planOnly, ...given} = options;
    const report = await context.runJob(linkrank, given, {...dryRun(context, planOnly), terse: true});
    const levels = (report.facts[0]?.levels ?? []) as readonly LevelFacts[]; // of the job's task
    const lines = levels.map(
      ({level, nodes, links, deadEnds, iterations, change, converged}) =>
        `${counted(nodes, level)}, ${counted(links, 'link')}, ${counted(deadEnds, 'dead end')}: ${converged ? '' : 'not '}converged after ${counted(iterations, 'iteration')}, last change ${change.toExponential(1)}`,
    );
    const scored = counterOf(report, 'rows_updated_total');
    const text =
      report.outcome === 'nothing'
        ? 'no links to rank by: crawl invertlinks makes the linkdb'
        : `ranked ${counted(counterOf(report, 'ranks_total'), 'node')}${options.setScore ? `, ${counted(scored, 'score')} changed` : ''}`;
    await close(context, report, [...lines, closing(report, text)]);
    return undefined;
  },
});
