import {generate} from '../../jobs/generate.ts';
import type {Forecast} from '../../lib/selection/selection.ts';
import {closing, counterOf, reasonList} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {close, dryRun, dryRunOption} from '../job-command.ts';
import {bytes, count, counted, span, visible} from '../words.ts';

/** A segment as the job reports it. */
interface MadeSegment {
  readonly id: string;
  readonly urls: number;
  readonly hosts: number;
  readonly forecast: Forecast;
}

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
    const made = report.facts.flatMap(({segments}) => (segments ?? []) as readonly MadeSegment[]); // the job's own form
    if (!globals.json) for (const {id} of made) await out.line(id);
    const left = counterOf(report, 'urls_left_total');
    await close(context, report, [
      ...made.slice(0, -1).map((segment) => describe(segment)),
      closing(report, made.length === 0 ? 'no segment' : describe(made.at(-1)!)),
      ...(left > 0 ? [`${counted(left, 'due URL')} left out: ${reasonList(report.reasons)}`] : []),
      ...made.flatMap((segment) => forecastLines(segment, effects.now())),
    ]);
    return made.length === 0 ? exitCodes.nothing : undefined;
  },
});

function describe({id, urls, hosts}: MadeSegment): string {
  return `segment ${id}: ${counted(urls, 'URL')} of ${counted(hosts, 'host')}`;
}

const slowestShown = 3;

/** What the fetch will take, and which hosts it will wait for. */
function forecastLines({id, forecast}: MadeSegment, now: number): string[] {
  const {requests, bytes: size, disk_bytes, duration_ms, slowest} = forecast;
  const end = new Date(now + duration_ms).toISOString().replace(/\.\d+Z$/, 'Z');
  const hosts = slowest
    .slice(0, slowestShown)
    .map(({host, urls, duration_ms: ms}) => `${visible(host)} ${span(ms)} for ${counted(urls, 'URL')}`);
  return [
    `forecast for ${id}: ${count(requests)} requests, ${bytes(size)}, ${bytes(disk_bytes)} on disk; begun now it ends in ${span(duration_ms)}, at ${end}`,
    ...(hosts.length === 0 ? [] : [`longest: ${hosts.join(', ')}`]),
  ];
}
