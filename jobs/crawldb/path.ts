import type {Database} from '../../lib/store/duckdb.ts';

/** Which part of its host a URL is in, as SQL: the first folder of its path, `/` for what is in none. */
export const firstFolderSql = (url: string) =>
  `coalesce(nullif(regexp_extract(${url}, '^[a-z]+://[^/?#]*(/[^/?#]*/)', 1), ''), '/')`;

/** Makes it the macro `first_folder(url)`. */
export async function defineFirstFolder(db: Database): Promise<void> {
  await db.run(`CREATE OR REPLACE MACRO first_folder(url) AS ${firstFolderSql('url')}`);
}
