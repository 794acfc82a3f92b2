import {compactionPlan, compactSome} from '../lib/crawldb/compaction.ts';
import {compactBuckets, compactionEdit, compactionTask} from './crawldb/compact.ts';
import {inlinksSlot} from './crawldb/writer.ts';
import {defineJob} from './job.ts';
import {databaseParams} from './runner/database.ts';

/**
 * Buckets of the crawldb take up what later commits changed. Rounds do this by themselves, a few buckets at a time;
 * this is for quiet hours, and for whoever wants the base alone: after `--full` equal crawldbs are equal bytes.
 */
export const compact = defineJob({
  name: 'compact',
  summary: 'Merge the deltas of the crawldb into its base.',
  options: {
    full: {
      kind: 'flag',
      default: false,
      doc: 'Write the whole base anew; without it the buckets where deltas weigh most, a quarter of them.',
    },
  },
  locks: () => ['crawldb'],

  async plan({full}, effects) {
    const {snapshot, config} = effects;
    const files = await snapshot.files('crawldb');
    const inlinks = await inlinksSlot(snapshot);
    const some = compactionPlan(files) ?? compactSome(files);
    const plan = full && files.length > 0 ? 'all' : some;
    if (plan === undefined) {
      effects.log('info', 'nothing_to_compact', {files: files.length});
      return undefined;
    }
    const edit = {reads: ['crawldb'], writes: {}};
    return {
      base: snapshot.manifest.number,
      now: effects.now(),
      tasks: [compactionTask(0, {plan, files, inlinks, database: databaseParams(config), edit})],
    };
  },

  run: (task, ctx) => compactBuckets(task, ctx),

  next: (_plan, _stage, results) => compactionEdit(results),
});
