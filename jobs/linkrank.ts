import {CrawlError} from '../lib/errors.ts';
import {graphBuilder} from '../lib/rank/graph-builder.ts';
import {pageRank, type RankRules, type Ranks} from '../lib/rank/page-rank.ts';
import {linkrank as linkrankTable, type RankLevel, rankLevels} from '../lib/schema/linkrank.ts';
import type {Database} from '../lib/store/duckdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {hostKey} from '../lib/url/keys.ts';
import {
  compactBuckets,
  compactionEdit,
  countFiles,
  countTables,
  crawldbNext,
  type DatabaseParams,
  databaseParams,
  filesOf,
  isCompaction,
  nextRevision,
  openTaskDatabase,
  rowsTable,
  writeRows,
  writeStatistics,
} from './crawldb/writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {readSql} from './runner/sql-file.ts';

const sql = readSql(import.meta.url, './linkrank.sql', [
  'page_edge',
  'host_edge',
  'host_name',
  'domain_edge',
  'node',
  'numbered',
  'page_name',
  'page_rows',
  'host_rows',
  'domain_rows',
  'scored',
]);

/** Chosen: with 10 million a limit of 1 GB did not suffice. */
const namedAtOnce = 2e6;

interface RankParams extends RankRules {
  readonly levels: readonly RankLevel[];
  readonly internal: boolean;
  readonly setScore: boolean;
  readonly revision: number;
  /** Pages whose names are looked up at once. */
  readonly namedAtOnce: number;
  readonly database: DatabaseParams;
}

/** What the report tells of a level. */
export interface LevelFacts {
  readonly level: RankLevel;
  readonly nodes: number;
  readonly links: number;
  readonly deadEnds: number;
  readonly iterations: number;
  readonly change: number;
  readonly converged: boolean;
}

/**
 * PageRank over the linkdb (Nutch: LinkRank, ScoreUpdater). DuckDB numbers the nodes and sorts the links; the
 * iterations run over typed arrays, 4 bytes a link and 36 a node. Levels come one after another.
 */
export const linkrank = defineJob({
  name: 'linkrank',
  summary: 'Rank pages, hosts and domains by their links (PageRank).',
  options: {
    levels: {kind: 'list', default: ['page', 'host', 'domain'], doc: 'What is ranked: page, host, domain.'},
    damping: {kind: 'number', default: 0.85, min: 0, max: 0.999, doc: 'Probability that a link is followed.'},
    tolerance: {
      kind: 'number',
      default: 1e-6,
      min: 1e-15,
      max: 1,
      doc: 'Ends when all ranks, which add up to 1, change by less than this together.',
    },
    iterations: {kind: 'count', default: 100, min: 1, doc: 'Most iterations.'},
    internal: {kind: 'flag', default: true, doc: 'Among pages, count links within a host.'},
    setScore: {
      kind: 'flag',
      default: false,
      doc: 'Make the score of each known page its rank, 1 being the mean; pages without links keep theirs.',
    },
  },
  locks: ({setScore}) => (setScore ? ['crawldb', 'linkrank'] : ['linkrank']),

  async plan(options, {snapshot, config, log, now}) {
    const wrong = options.levels.find((word) => !(rankLevels as readonly string[]).includes(word));
    if (wrong !== undefined || options.levels.length === 0)
      throw new CrawlError('USAGE', wrong === undefined ? 'no level is named' : `no level ${wrong}`, {
        hint: `Levels: ${rankLevels.join(' ')}`,
      });
    if (options.setScore && !options.levels.includes('page'))
      throw new CrawlError('USAGE', '--set-score needs the level page');
    const levels = rankLevels.filter((level) => options.levels.includes(level));
    const links = await snapshot.files('linkdb');
    if (links.every((file) => file.rows === 0)) {
      log('info', 'linkdb_empty');
      return undefined;
    }
    const params: RankParams = {
      levels,
      damping: options.damping,
      tolerance: options.tolerance,
      maxIterations: options.iterations,
      internal: options.internal,
      setScore: options.setScore,
      revision: nextRevision(snapshot),
      namedAtOnce,
      database: databaseParams(config),
    };
    const rows = await snapshot.files('crawldb');
    return {
      base: snapshot.manifest.number,
      now: now(),
      tasks: [
        {
          stage: 0,
          part: 0,
          inputs: [...links, ...rows, ...(await countFiles(snapshot))],
          params: {...params},
        },
      ],
      facts: {crawldb: rows, database: params.database, setScore: options.setScore},
    };
  },

  run: (task, ctx) => (isCompaction(task) ? compactBuckets(task, ctx) : rankAll(task, ctx)),

  next(plan, stage, results) {
    if (stage > 0) return compactionEdit(results);
    const writes = {linkrank: filesOf(results[0], 'linkrank')};
    const delta = filesOf(results[0], 'crawldb');
    if (delta.every((file) => file.rows === 0)) return {edit: {reads: ['linkdb'], writes}};
    const edit = {
      reads: ['linkdb', 'crawldb'],
      writes: {...writes, crawldbstats: filesOf(results[0], 'crawldbstats')},
    };
    const before = plan.facts?.crawldb as readonly FileRef[];
    return crawldbNext(plan, stage, before, delta, edit, plan.facts?.database as DatabaseParams);
  },
});

async function rankAll(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as RankParams; // made by plan
  const tables = ['crawldb', 'linkdb', ...countTables] as const;
  const db = await openTaskDatabase(task, ctx, params.database, tables, {asViews: true});
  try {
    if (params.levels.some((level) => level !== 'page')) await db.run(sql.host_name);
    const files: FileRef[] = [];
    const levels: LevelFacts[] = [];
    for (const level of params.levels) {
      await makeEdges(db, level, params.internal);
      const {facts, ranks} = await rankLevel(db, ctx, level, params);
      levels.push(facts);
      await keepRanks(db, ranks);
      files.push(...(await writeRanks(db, ctx, facts, params)));
      if (level === 'page' && params.setScore) {
        await db.run(sql.scored, {nodes: facts.nodes});
        files.push(...(await writeRows(db, ctx, params.revision)));
        files.push(await writeStatistics(db, ctx, params.revision));
      }
      await db.run(`DROP TABLE ranked; DROP TABLE node; DROP ${level === 'page' ? 'VIEW' : 'TABLE'} edge;`);
    }
    const scored = files.filter(({table}) => table === 'crawldb').reduce((sum, {rows}) => sum + rows, 0);
    return {
      files,
      counters: {ranks_total: levels.reduce((sum, {nodes}) => sum + nodes, 0), rows_updated_total: scored},
      reasons: {},
      facts: {levels},
    };
  } finally {
    await db.close();
  }
}

async function makeEdges(db: Database, level: RankLevel, internal: boolean): Promise<void> {
  switch (level) {
    case 'page':
      await db.run(`SET VARIABLE internal = ${internal}`);
      return db.run(sql.page_edge);
    case 'host':
      return db.run(sql.host_edge);
    case 'domain': {
      const keys = await rowsTable(db, 'domain_key', {name: {type: 'text'}, domain_key: {type: 'key'}});
      for await (const rows of db.stream('SELECT DISTINCT domain AS name FROM host_name'))
        await keys.insert(rows.map(({name}) => ({name, domain_key: hostKey(name as string)})));
      return db.run(sql.domain_edge);
    }
  }
}

interface RankedLevel {
  readonly facts: LevelFacts;
  readonly ranks: Float64Array;
  readonly inlinks: (node: number) => number;
  readonly outlinks: Uint32Array;
}

async function rankLevel(
  db: Database,
  ctx: TaskContext,
  level: RankLevel,
  rules: RankRules,
): Promise<{facts: LevelFacts; ranks: RankedLevel}> {
  await db.run(sql.node);
  await db.run(sql.numbered);
  const [size] = await db.all<{nodes: number; links: number}>(
    'SELECT (SELECT count(*) FROM node) AS nodes, (SELECT count(*) FROM numbered) AS links',
  );
  const {nodes = 0, links = 0} = size ?? {};
  const builder = graphBuilder(nodes, links);
  for await (const [sources, targets] of db.numbers(
    'SELECT source, target FROM numbered ORDER BY target, source',
  )) {
    ctx.signal.throwIfAborted();
    for (let at = 0; at < sources!.length; at++) builder.add(sources![at]!, targets![at]!);
  }
  await db.run('DROP TABLE numbered');
  const graph = builder.finish();
  const {ranks, ...ended}: Ranks = pageRank(graph, rules, (iteration, change) => {
    ctx.signal.throwIfAborted();
    ctx.log('debug', 'rank_iteration', {level, iteration, change});
  });
  ctx.log(ended.converged ? 'info' : 'warn', ended.converged ? 'ranked' : 'rank_not_converged', {
    level,
    nodes,
    links,
    iterations: ended.iterations,
    change: ended.change,
  });
  const {outlinks, starts} = graph;
  const deadEnds = outlinks.reduce((sum, n) => sum + (n === 0 ? 1 : 0), 0);
  const facts = {level, nodes, links, deadEnds, ...ended};
  return {facts, ranks: {facts, ranks, outlinks, inlinks: (node) => starts[node + 1]! - starts[node]!}};
}

/** A file of the level's ranks; of many pages one for each range of hosts. */
async function writeRanks(
  db: Database,
  ctx: TaskContext,
  {level, nodes}: LevelFacts,
  {namedAtOnce}: RankParams,
): Promise<FileRef[]> {
  const create = () => ctx.store.create(linkrankTable, 'linkdb/linkrank');
  if (level !== 'page') {
    const rows = level === 'host' ? sql.host_rows : sql.domain_rows;
    return [await db.copy(rows, {nodes}, await create())];
  }
  const files: FileRef[] = [];
  for (const hosts of hostRanges(Math.ceil(nodes / namedAtOnce))) {
    await db.run(sql.page_name, hosts);
    files.push(await db.copy(sql.page_rows, {nodes, ...hosts}, await create()));
    await db.run('DROP TABLE page_name');
  }
  return files;
}

/** The keys of all hosts in `count` equal ranges; 1 at least. */
function hostRanges(count: number): {first: bigint; last: bigint}[] {
  const ranges = BigInt(Math.max(count, 1));
  return Array.from({length: Number(ranges)}, (_, at) => ({
    first: (2n ** 64n * BigInt(at)) / ranges,
    last: (2n ** 64n * BigInt(at + 1)) / ranges - 1n,
  }));
}

/** Rows given to DuckDB at a time. */
const batchRows = 4096;

async function keepRanks(db: Database, {ranks, outlinks, inlinks}: RankedLevel): Promise<void> {
  const table = await rowsTable(db, 'ranked', {
    id: {type: 'int32'},
    rank: {type: 'double'},
    inlinks: {type: 'int32'},
    outlinks: {type: 'int32'},
  });
  for (let first = 0; first < ranks.length; first += batchRows) {
    const length = Math.min(batchRows, ranks.length - first);
    await table.insert(
      Array.from({length}, (_, at) => {
        const id = first + at;
        return {id, rank: ranks[id], inlinks: inlinks(id), outlinks: outlinks[id]};
      }),
    );
  }
}
