import type {ScorePart} from './part.ts';

/** How long a known page is overdue, in its own intervals, up to ten; 0 for one that was never fetched. */
export const age: ScorePart = {
  name: 'age',
  doc: 'Intervals that a known page is overdue, at most 10.',
  sql: `CASE WHEN c.fetch_time IS NULL THEN 0 ELSE least(greatest(
    (epoch(now()) - epoch(c.next_fetch_time)) / greatest(c.fetch_interval_s, 1), 0), 10) END`,
};
