import {boundsOf, scheduleOf} from '../../lib/schedule/from-config.ts';
import {scheduleRules} from '../../lib/schedule/rules.ts';
import {crawldb} from '../../lib/schema/crawldb.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {countTables, openTaskDatabase, rowsTable, writeDelta} from '../crawldb/writer.ts';
import type {Task, TaskContext, TaskResult} from '../job.ts';
import {readSql} from '../runner/sql-file.ts';
import {fold, reparse} from './fold.ts';
import {followLinks} from './links.ts';
import {replaceLinks} from './lost.ts';
import {oddValues} from './odd.ts';
import {priceSummary, renewPrice} from './price.ts';
import {refusedCaptures, writeRefusals} from './refusals.ts';
import {markDuplicates, type Update, type UpdateParams} from './step.ts';
import {watchFamilies, writeFamilies} from './traps.ts';
import {countVisits, writePaths} from './yield.ts';

const sql = readSql(import.meta.url, './task.sql', ['totals']);

/**
 * Merges segments into the crawldb. The few URLs that were fetched go through the state machine in TypeScript, in
 * batches; the many targets of links are handled by sets, on keys alone until they turn out to be new.
 */
export async function updateTask(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as UpdateParams; // made by plan
  const {config} = params;
  const db = await openTaskDatabase(task, ctx, params.database, [
    'crawldb',
    'fetch',
    'parse',
    'outlinks',
    'refusals',
    'seeds',
    'hoststate',
    ...countTables,
    'pathstats',
    'familyrules',
    'hostrules',
    'families',
  ]);
  try {
    const update: Update = {
      db,
      ctx,
      params,
      policy: {
        schedule: scheduleOf(config.schedule, params.price?.price ?? null),
        now: params.now,
        limitsOf: scheduleRules(config.schedule.rules, boundsOf(config.schedule)),
        config: config.schedule,
        waits: config.waits,
      },
      scope: makeScope(config.scope, config.url, config.links, params.texts.scopeFiles),
      changed: await rowsTable(db, 'changed', crawldb.columns),
      reasons: {},
      refused: await refusedCaptures(db),
    };
    const segs = await rowsTable(db, 'segs', {
      segment: {type: 'text'},
      mode: {type: 'text'},
      parse_id: {type: 'text'},
    });
    await segs.insert(params.segments);
    await fold(update);
    await reparse(update);
    const duplicates = await markDuplicates(update, 'changed');
    await followLinks(update, await watchFamilies(update));
    return await finish(update, duplicates + (await replaceLinks(update)));
  } finally {
    await db.close();
  }
}

async function finish(update: Update, duplicates: number): Promise<TaskResult> {
  const {db, ctx, params, reasons} = update;
  await countVisits(update);
  await db.run('CREATE VIEW delta AS SELECT * FROM changed');
  const price = await renewPrice(db, params.config.schedule, params.price, params.now);
  const {files, summary} = await writeDelta(db, ctx, params.revision);
  const [totals] = await db.all<{changed: number; added: number}>(sql.totals);
  const {changed = 0, added = 0} = totals ?? {};
  return {
    files: [
      ...files,
      await writeFamilies(update),
      await writePaths(update),
      ...(await writeRefusals(update)),
    ],
    counters: {
      rows_updated_total: changed - added,
      rows_added_total: added,
      rows_refused_total: Object.values(reasons).reduce((sum, n) => sum + n, 0),
      duplicates_total: duplicates,
      ...(await oddValues(update)),
    },
    reasons,
    facts: {summary: {...summary, ...(price !== null && priceSummary(price))}},
  };
}
