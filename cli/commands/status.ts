import {crawlStatus} from '../../jobs/status.ts';
import {defineCommand} from '../command.ts';
import {nextStep, stageOf} from '../next-step.ts';
import {jsonValue} from '../output.ts';
import {statusText} from '../status-text.ts';

export const command = defineCommand({
  name: 'status',
  summary: 'Show the crawl on one screen: counts, segments, locks, last runs, next step.',
  options: {
    asOf: {kind: 'count', doc: 'Number of an older manifest to look at.'},
    all: {kind: 'flag', default: false, doc: 'All segments, not only the newest and the unfinished ones.'},
    runs: {kind: 'count', default: 5, doc: 'Last runs to show.'},
  },
  positionals: [],
  async run({options}, context) {
    const {dir} = await context.crawl();
    const status = await crawlStatus(dir, options.asOf, options.runs, context.effects.now());
    const {manifest, segments, hosts, locks, runs, bytes} = status;
    if (context.globals.json)
      await context.out.line(
        JSON.stringify({
          dir,
          manifest: manifest.number,
          created_time: manifest.created_time,
          bytes,
          summary: manifest.summary,
          segments: segments.map((segment) => ({...segment, stage: stageOf(segment)})),
          hosts: jsonValue(hosts),
          locks,
          runs: jsonValue(runs),
          next: nextStep(manifest),
        }),
      );
    else
      await context.out.write(
        statusText(status, {all: options.all, now: context.effects.now(), colours: context.out.colours}),
      );
    return undefined;
  },
});
