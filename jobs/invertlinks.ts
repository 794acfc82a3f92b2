import {sumRows} from '../lib/crawldb/layout.ts';
import {CrawlError} from '../lib/errors.ts';
import type {TableName} from '../lib/schema/tables.ts';
import type {FileRef, SegmentInfo} from '../lib/store/manifest-types.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {bindTables} from '../lib/store/views.ts';
import {
  type DatabaseParams,
  databaseParams,
  inlinksSlot,
  openTaskDatabase,
  rowsTable,
} from './crawldb/writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {inlinksAfter, type LinkWork, linksAfter} from './linkdb/writer.ts';
import {readSql} from './runner/sql-file.ts';

const sql = readSql(import.meta.url, './invertlinks.sql', [
  'told',
  'applied',
  'unapplied',
  'derive',
  'sources',
  'links',
  'rows',
  'old',
  'nothing_old',
  'change',
  'totals',
]);

interface InvertParams {
  readonly segments: readonly string[];
  readonly internal: boolean;
  readonly external: boolean;
  readonly maxInlinks: number;
  /** Versions of the linkdb and of `inlinks` that the commit makes. */
  readonly revision: number;
  readonly inlinksRevision: number;
  /** A later segment was applied: what the crawldb holds may be newer. */
  readonly overtaken: boolean;
  /** Links in the linkdb so far. */
  readonly links: number;
  readonly database: DatabaseParams;
}

/**
 * Who links to a page (Nutch: LinkDb). The links of a page are those of its newest parse: links that disappeared
 * disappear here too. Writes what the segments tell, and by how much the number of linking pages of a URL changes; the
 * linkdb so far is read for pages that are told again, and for buckets that take up their deltas.
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
    const {slots, summary} = snapshot.manifest;
    const links = await snapshot.files('linkdb');
    const slot = await inlinksSlot(snapshot);
    const params: InvertParams = {
      segments,
      internal: config.links.internal,
      external: config.links.external,
      maxInlinks: config.links.max_inlinks,
      revision: (slots.linkdb?.version ?? 0) + 1,
      inlinksRevision: slot.version + 1,
      overtaken: isOvertaken(snapshot, segments),
      links: summary.links ?? sumRows(links.filter(({table}) => table === 'linkdb')),
      database: databaseParams(config),
    };
    const inputs = [
      ...(await snapshot.files('crawldb')),
      ...links,
      ...slot.files,
      ...(await snapshot.tableFiles('fetch', segments)),
      ...(await snapshot.tableFiles('parse', segments)),
      ...(await snapshot.tableFiles('outlinks', segments)),
    ];
    return {
      base: snapshot.manifest.number,
      now: effects.now(),
      ...(segments.length === 1 && {segment: segments[0]!}),
      tasks: [{stage: 0, part: 0, inputs, params: {...params}}],
      facts: {inverted: segments.map((id) => [id, snapshot.segment(id).current])},
    };
  },

  run: (task, ctx) => invert(task, ctx),

  next(plan, _stage, results) {
    const inverted = plan.facts?.inverted as readonly (readonly [string, string])[];
    const segments: Record<string, Partial<SegmentInfo>> = {};
    for (const [id, parse] of inverted) segments[id] = {inverted: parse};
    const {linkdb, inlinks, summary} = results[0]!.facts as unknown as InvertFacts;
    return {
      edit: {
        reads: ['linkdb', 'inlinks', 'crawldb', ...inverted.map(([id]) => `segments/${id}`)],
        writes: {linkdb, inlinks},
        segments,
        summary,
      },
    };
  },
});

/** Whether the crawldb may hold newer captures of the pages of these segments. */
function isOvertaken(snapshot: Snapshot, segments: readonly string[]): boolean {
  return snapshot.segments.some((id) => id > segments[0]! && snapshot.segment(id).applied !== undefined);
}

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

interface InvertFacts {
  readonly linkdb: readonly FileRef[];
  readonly inlinks: readonly FileRef[];
  readonly summary: Readonly<Record<string, number>>;
}

async function invert(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as InvertParams; // made by plan
  const of = (table: TableName) => task.inputs.filter((file) => file.table === table);
  const crawldb = of('crawldb');
  const tables = ['linkdb', 'linksources', 'fetch', 'parse', 'outlinks'] as const;
  const db = await openTaskDatabase(withoutCrawldb(task), ctx, params.database, tables);
  try {
    const segs = await rowsTable(db, 'segs', {segment: {type: 'text'}});
    await segs.insert(params.segments.map((segment) => ({segment})));
    await db.run(sql.told);
    if (params.overtaken) await bindTables(db, ctx.store, {crawldb});
    await db.run(params.overtaken ? sql.applied : sql.unapplied);
    const derived = of('linksources').length === 0 && of('linkdb').length > 0;
    if (derived) await db.run(sql.derive);
    await db.run(sql.sources);
    await db.run(sql.links, {internal: params.internal, external: params.external});
    await db.run(sql.rows.replaceAll('$revision', `${params.revision}`)); // a view takes no parameters
    const [again] = await db.all<{n: number}>('SELECT count(*) AS n FROM source WHERE again');
    await db.run((again?.n ?? 0) > 0 ? sql.old : sql.nothing_old);
    await db.run(sql.change);
    const [totals] = await db.all<{told: number; old: number; kept: number; rows: number}>(sql.totals);
    const {told = 0, old = 0, kept = 0, rows = 0} = totals ?? {};
    const work: LinkWork = {db, ctx, revision: params.revision, maxInlinks: params.maxInlinks, crawldb};
    const links = await linksAfter(work, of('linkdb'), of('linksources'), derived);
    const inlinks = await inlinksAfter(db, ctx, crawldb, of('inlinks'), params.inlinksRevision);
    const total = params.links + told - old - links.cut;
    return {
      files: [...links.written, ...inlinks.written],
      counters: {
        links_total: total,
        links_added_total: told - kept + Math.max(0, -links.cut),
        links_removed_total: old - kept + Math.max(0, links.cut),
        rows_updated_total: rows,
      },
      reasons: {},
      facts: {linkdb: links.files, inlinks: inlinks.files, summary: {links: total}} satisfies InvertFacts,
    };
  } finally {
    await db.close();
  }
}

/** The crawldb is asked only where a later segment was applied or a page has too many links; it is bound then. */
function withoutCrawldb(task: Task): Task {
  return {...task, inputs: task.inputs.filter(({table}) => table !== 'crawldb' && table !== 'inlinks')};
}
