/** Counters of jobs, in the Prometheus manner: declared once, reported as the job's result. */
export const counters = {
  seeds_read_total: 'Seed lines read.',
  seeds_added_total: 'Seeds added to the crawldb.',
  seeds_updated_total: 'Seeds whose row was changed.',
  seeds_known_total: 'Seeds left as they were.',
  seeds_rejected_total: 'Seed lines rejected.',
  sitemaps_found_total: 'Sitemaps named by robots.txt files or by hand.',
  sitemaps_added_total: 'Sitemaps added to the crawldb.',
  sitemaps_known_total: 'Sitemaps left as they were.',
  sitemaps_rejected_total: 'Sitemaps rejected.',
  urls_due_total: 'URLs due at the time of generate.',
  urls_selected_total: 'URLs put into the fetchlist.',
  hosts_selected_total: 'Hosts in the fetchlist.',
  hosts_counted_total: 'Hosts whose URLs were counted anew.',
  hosts_added_total: 'Hosts of the crawldb that had no counts.',
  hosts_changed_total: 'Hosts whose counts were put right.',
  urls_left_total: 'URLs due but left out, by reason.',
  requests_total: 'HTTP requests sent.',
  pages_fetched_total: 'Fetchlist URLs that ended in success.',
  pages_notmodified_total: 'Fetchlist URLs that ended in 304.',
  pages_redirected_total: 'Fetchlist URLs that ended in a redirect.',
  pages_gone_total: 'Fetchlist URLs that ended as gone.',
  pages_retry_total: 'Fetchlist URLs that failed for now.',
  pages_skipped_total: 'Fetchlist URLs not asked for.',
  robots_requests_total: 'Requests for robots.txt.',
  body_bytes_total: 'Payload bytes received.',
  payloads_stored_total: 'Payloads stored.',
  payloads_shared_total: 'Payloads that were stored already.',
  payload_bytes_saved_total: 'Payload bytes that were not stored again.',
  journal_rows_lost_total: 'Journal rows dropped because their payload did not match its digest.',
  captures_parsed_total: 'Captures parsed.',
  captures_failed_total: 'Captures whose parse failed.',
  captures_skipped_total: 'Captures with no parser or no payload.',
  outlinks_total: 'Links recorded.',
  outlinks_rejected_total: 'Links recorded and rejected.',
  parse_seconds_total: 'Time spent in parsers.',
  pages_extracted_total: 'Pages that an extractor has read, once for each extractor.',
  extractions_failed_total: 'Pages on which an extractor failed, once for each extractor.',
  rows_extracted_total: 'Rows that extractors gave.',
  extract_seconds_total: 'Time spent in extractors.',
  clock_ahead_total: 'Times that lay in the future by the clock of the job: taken as its own time.',
  lastmod_future_total: 'Links of sitemaps and feeds whose lastmod lay after their fetch: passed over.',
  lastmod_ancient_total: 'Links of sitemaps and feeds whose lastmod lay before the web began: passed over.',
  changefreq_bounded_total: 'New URLs whose changefreq lay outside the bounds of the schedule.',
  scores_bounded_total: 'Scores that were no finite number: taken as 0.',
  rows_updated_total: 'Known URLs whose row was changed.',
  rows_added_total: 'URLs added to the crawldb.',
  rows_refused_total: 'New URLs refused, by reason.',
  rows_orphaned_total: 'Pages to which no link leads any more.',
  rows_released_total: 'Rows that are due again, since the scope takes them or a link leads to them.',
  rows_purged_total: 'Rows that were forgotten.',
  duplicates_total: 'URLs marked as duplicates.',
  similar_total: 'Pages named as similar to another, their status being as it was.',
  urls_rekeyed_total: 'Known URLs that got another form.',
  urls_merged_total: 'Rows that became one with another.',
  links_total: 'Links in the linkdb.',
  links_added_total: 'Links added to the linkdb.',
  links_removed_total: 'Links removed from the linkdb.',
  captures_kept_total: 'Captures that stay when segments are merged.',
  captures_dropped_total: 'Captures that newer ones, or a condition, left out then.',
  buckets_compacted_total: 'Buckets of the crawldb written anew.',
  rows_compacted_total: 'Rows that compaction wrote.',
  ranks_total: 'Pages, hosts and domains ranked.',
  files_removed_total: 'Files removed as garbage.',
} as const satisfies Readonly<Record<string, string>>;
export type CounterName = keyof typeof counters;
export type Counters = Partial<Record<CounterName, number>>;

/** Adds `more` to `sum`, in place. */
export function addCounters(
  sum: Record<string, number>,
  more: Readonly<Record<string, number | undefined>>,
): void {
  for (const [name, value] of Object.entries(more))
    if (value !== undefined) sum[name] = (sum[name] ?? 0) + value;
}

/** A row of counters without those that are 0. */
export function foundOnly(row: Readonly<Record<string, unknown>> | undefined): Counters {
  return Object.fromEntries(Object.entries(row ?? {}).filter(([, n]) => n !== 0));
}
