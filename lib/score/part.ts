import type {TableName} from '../schema/tables.ts';

/** A part of the priority by which generate chooses: a number for each row of the crawldb. One file each. */
export interface ScorePart {
  readonly name: string;
  /** One sentence for people. */
  readonly doc: string;
  /** Its value for the row `c` of the crawldb, as SQL; `now()` is the time of the round. */
  readonly sql: string;
  /** Where its value stands in another table: what is joined to `c`, and the tables that this reads. */
  readonly join?: {readonly sql: string; readonly tables: readonly TableName[]};
}
