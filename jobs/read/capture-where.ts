import {CrawlError} from '../../lib/errors.ts';
import type {Database} from '../../lib/store/duckdb.ts';

/** Conditions by hand over captures: `crawl parse --where`, `crawl mergesegs --where`. */

/**
 * What a condition may speak of: the columns of `captures`, those of the current parse beside them (where both have
 * one of that name it is the capture's; the parse's are parse_status and parse_reason), and in a query of its own any
 * table.
 */
export const describedCaptures = `SELECT c.*, p.* EXCLUDE (segment, capture_id, host_key, url_key, url, status, reason, content_mime_type),
  p.status AS parse_status, p.reason AS parse_reason
FROM captures c LEFT JOIN parse p USING (segment, capture_id)`;

/** Throws USAGE where the condition in a query is no one expression, or is a further statement. */
export async function checkCondition(db: Database, query: string, where: string): Promise<void> {
  const hint = 'It takes one SQL condition over captures and parse, as: --where "parse_status = \'failed\'"';
  if (where.trim() === '' || where.includes(';'))
    throw new CrawlError('USAGE', '--where takes one SQL condition, without semicolon', {hint});
  try {
    const kinds = await db.statementKinds(query);
    if (kinds.length === 1 && kinds[0] === 'SELECT') return;
  } catch (error) {
    if (!(error instanceof CrawlError)) throw error;
    throw new CrawlError('USAGE', `--where ${where}: ${error.message}`, {hint, cause: error});
  }
  throw new CrawlError('USAGE', `--where ${where}: not a condition`, {hint});
}
