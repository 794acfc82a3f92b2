import {content} from './content.ts';
import {crawldb} from './crawldb.ts';
import {crawldbstats} from './crawldbstats.ts';
import {extractions} from './extractions.ts';
import {families, familyrules} from './families.ts';
import {fetch} from './fetch.ts';
import {fetchlist} from './fetchlist.ts';
import {hostrules, hoststate, hoststats, pathstats, robots, seedstats} from './hostdb.ts';
import {inlinks} from './inlinks.ts';
import {linkdb, linksources} from './linkdb.ts';
import {linkrank} from './linkrank.ts';
import {outlinks} from './outlinks.ts';
import {parse} from './parse.ts';
import {refusals} from './refusals.ts';
import {runs} from './runs.ts';
import {seeds} from './seeds.ts';
import type {Table} from './table.ts';

/** All tables by name, in the order of the data dictionary. */
export const tables = {
  crawldb,
  crawldbstats,
  seeds,
  fetchlist,
  fetch,
  content,
  parse,
  outlinks,
  refusals,
  extractions,
  linkdb,
  linksources,
  inlinks,
  linkrank,
  robots,
  hoststate,
  hoststats,
  pathstats,
  hostrules,
  seedstats,
  families,
  familyrules,
  runs,
} as const satisfies Readonly<Record<string, Table>>;
export type TableName = keyof typeof tables;
