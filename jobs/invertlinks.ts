import {CrawlError} from '../lib/errors.ts';
import {linkdb} from '../lib/schema/linkdb.ts';
import type {FileRef, SegmentInfo} from '../lib/store/manifest-types.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {
  compactBuckets,
  compactionEdit,
  crawldbNext,
  type DatabaseParams,
  databaseParams,
  filesOf,
  isCompaction,
  nextRevision,
  openTaskDatabase,
  rowsTable,
  writeRows,
} from './crawldb-writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {readSql} from './sql-file.ts';

const sql = readSql(import.meta.url, './invertlinks.sql', [
  'sources',
  'links',
  'linkdb',
  'inlinks',
  'totals',
]);

interface InvertParams {
  readonly segments: readonly string[];
  readonly internal: boolean;
  readonly external: boolean;
  readonly maxInlinks: number;
  readonly revision: number;
  readonly database: DatabaseParams;
}

/**
 * Who links to a page (Nutch: LinkDb). The links of a page are those of its newest parse: links that disappeared
 * disappear here too. Sets the number of linking pages in the crawldb.
 */
export const invertlinks = defineJob({
  name: 'invertlinks',
  summary: 'Turn the links of parsed segments round, into the linkdb.',
  options: {
    segments: {
      kind: 'list',
      default: [],
      doc: 'Segments; all whose current parse is not in the linkdb if absent.',
    },
  },
  locks: () => ['crawldb', 'linkdb'],

  async plan(options, effects) {
    const {snapshot, config} = effects;
    const segments = chooseSegments(snapshot, options.segments);
    if (segments.length === 0) {
      effects.log('info', 'nothing_to_invert', {segments: options.segments});
      return undefined;
    }
    const params: InvertParams = {
      segments,
      internal: config.links.internal,
      external: config.links.external,
      maxInlinks: config.links.max_inlinks,
      revision: nextRevision(snapshot),
      database: databaseParams(config),
    };
    const rows = await snapshot.files('crawldb');
    const inputs = [
      ...rows,
      ...(await snapshot.files('linkdb')),
      ...(await snapshot.tableFiles('fetch', segments)),
      ...(await snapshot.tableFiles('parse', segments)),
      ...(await snapshot.tableFiles('outlinks', segments)),
    ];
    return {
      base: snapshot.manifest.number,
      now: effects.now(),
      ...(segments.length === 1 && {segment: segments[0]!}),
      tasks: [{stage: 0, part: 0, inputs, params: {...params}}],
      facts: {
        crawldb: rows,
        database: params.database,
        inverted: segments.map((id) => [id, snapshot.segment(id).current]),
      },
    };
  },

  run: (task, ctx) => (isCompaction(task) ? compactBuckets(task, ctx) : invert(task, ctx)),

  next(plan, stage, results) {
    if (stage > 0) return compactionEdit(results);
    const inverted = plan.facts?.inverted as readonly (readonly [string, string])[];
    const segments: Record<string, Partial<SegmentInfo>> = {};
    for (const [id, parse] of inverted) segments[id] = {inverted: parse};
    const edit = {
      reads: ['linkdb', 'crawldb', ...inverted.map(([id]) => `segments/${id}`)],
      writes: {linkdb: filesOf(results[0], 'linkdb')},
      segments,
      summary: results[0]?.facts?.summary as Record<string, number>,
    };
    const delta = filesOf(results[0], 'crawldb');
    if (delta.every((file) => file.rows === 0)) return {edit};
    const before = plan.facts?.crawldb as readonly FileRef[];
    return crawldbNext(plan, stage, before, delta, edit, plan.facts?.database as DatabaseParams);
  },
});

function chooseSegments(snapshot: Snapshot, names: readonly string[]): readonly string[] {
  const ids = names.length > 0 ? [...new Set(names)].sort() : snapshot.segments;
  return ids.filter((id) => {
    const {current, inverted} = snapshot.segment(id);
    if (current === undefined && names.length > 0)
      throw new CrawlError('SEGMENT_STATE', `segment ${id} is not parsed`, {
        facts: {segment: id},
        hint: `Run: crawl parse ${id}`,
      });
    return current !== undefined && current !== inverted;
  });
}

async function invert(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as InvertParams; // made by plan
  const tables = ['crawldb', 'linkdb', 'fetch', 'parse', 'outlinks'] as const;
  const db = await openTaskDatabase(task, ctx, params.database, tables);
  try {
    const segs = await rowsTable(db, 'segs', {segment: {type: 'text'}});
    await segs.insert(params.segments.map((segment) => ({segment})));
    await db.run(sql.sources);
    await db.run(sql.links, {internal: params.internal, external: params.external});
    await db.run(sql.linkdb, {max_inlinks: params.maxInlinks});
    await db.run(sql.inlinks);
    const [totals] = await db.all<{links: number; added: number; removed: number; rows: number}>(sql.totals);
    const links = await db.copy(
      `SELECT * FROM next_link
       ORDER BY target_host_key, target_url_key, source_host_key, source_url_key`,
      {},
      await ctx.store.create(linkdb, 'linkdb'),
    );
    const delta = await writeRows(db, ctx, params.revision);
    const {links: total = 0, added = 0, removed = 0, rows = 0} = totals ?? {};
    return {
      files: [links, ...delta],
      counters: {
        links_total: total,
        links_added_total: added,
        links_removed_total: removed,
        rows_updated_total: rows,
      },
      reasons: {},
      facts: {summary: {links: total}},
    };
  } finally {
    await db.close();
  }
}
