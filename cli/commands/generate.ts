import {generate} from '../../jobs/generate.ts';
import {closing, counterOf, reasonList} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {describeList, type ForecastSegment, forecastLines} from '../forecast-text.ts';
import {close, dryRun, dryRunOption} from '../job-command.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: generate.name,
  summary: generate.summary,
  details: 'Prints the id of each new segment on standard output. Exit code 3 if no URL is due.',
  examples: [
    ['crawl generate --top-n 10000', 'a small segment'],
    ['crawl generate --window 8h', 'as much as a night can take'],
    ['crawl generate --where "url LIKE \'%/news/%\'"', 'only some URLs'],
    ['crawl generate --where "status = \'gone\'" --force', 'what is gone, before its time'],
    [
      'crawl generate --refetch-share 0.5 --share news=3',
      'half for known pages; the group news three times the others',
    ],
  ],
  options: {...generate.options, ...dryRunOption},
  positionals: [],
  async run({options}, context) {
    const {globals, out, say, effects} = context;
    const report = await context.runJob(generate, options, dryRun(context, options.dryRun));
    if (report.outcome === 'nothing') {
      if (globals.json) await close(context, report, []);
      else say('no URL is due');
      return exitCodes.nothing;
    }
    const made = report.facts.flatMap(({segments}) => (segments ?? []) as readonly ForecastSegment[]); // the job's own form
    if (!globals.json) for (const {id} of made) await out.line(id);
    const left = counterOf(report, 'urls_left_total');
    await close(context, report, [
      ...made.slice(0, -1).map((segment) => describeList(segment)),
      closing(report, made.length === 0 ? 'no segment' : describeList(made.at(-1)!)),
      ...(left > 0 ? [`${counted(left, 'due URL')} left out: ${reasonList(report.reasons)}`] : []),
      ...made.flatMap((segment) => forecastLines(segment, effects.now())),
    ]);
    return made.length === 0 && report.outcome !== 'planned' ? exitCodes.nothing : undefined;
  },
});
