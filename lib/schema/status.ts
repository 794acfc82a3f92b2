/** The closed lists of states. Words are Nutch's, without its `db_` and `fetch_`. */

/** State of a URL in the crawldb. */
export const dbStatuses = [
  'unfetched',
  'fetched',
  'notmodified',
  'redir_temp',
  'redir_perm',
  'gone',
  'duplicate',
  'orphan',
  'parse_failed',
] as const;

/** Outcome of one request, or of the decision to make none. */
export const fetchStatuses = [
  'success',
  'notmodified',
  'redir_temp',
  'redir_perm',
  'gone',
  'retry',
  'skipped',
] as const;
export type FetchStatus = (typeof fetchStatuses)[number];

/** What a capture was for. Each fetchlist URL ends as exactly one row of kind `page` (or `sitemap`). */
export const captureKinds = ['page', 'hop', 'robots', 'sitemap', 'rendered', 'imported', 'probe'] as const;
export type CaptureKind = (typeof captureKinds)[number];

/** Why an answer of status 200 is taken for "not found". */
export const soft404s = ['probe', 'repeated'] as const;

/** How a URL was reached, in Heritrix's letters: Link, Embed, Redirect, Sitemap; `I` is a seed (injected). */
export const hopTypes = ['I', 'L', 'E', 'R', 'S'] as const;
export type HopType = (typeof hopTypes)[number];

/** Why generate chose a URL. */
export const selections = ['new', 'refetch', 'retry', 'forced'] as const;

/** Why a payload ends before its end, in Common Crawl's words. */
export const truncations = ['length', 'time', 'disconnect'] as const;
export type Truncation = (typeof truncations)[number];
