import type {Command} from '../command.ts';

/**
 * All commands, in the order of help. The list knows name and summary only: a command is loaded when it is
 * called, so that help and usage errors do not wait for DuckDB.
 */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<{readonly command: Command}>;
}

// biome-ignore format: a line a command
export const commands: readonly CommandEntry[] = [
  {name: 'init', summary: 'Make a crawl: a folder with a commented crawl.yaml.', load: () => import('./init.ts')},
  {name: 'inject', summary: 'Add seed URLs to the crawldb.', load: () => import('./inject.ts')},
  {name: 'sitemap', summary: 'Add sitemaps: by hand, or those that robots.txt files name.', load: () => import('./sitemap.ts')},
  {name: 'generate', summary: 'Select the URLs that are due into a new segment.', load: () => import('./generate.ts')},
  {name: 'freegen', summary: 'Make a segment straight from a list of URLs.', load: () => import('./freegen.ts')},
  {name: 'fetch', summary: 'Fetch segments politely, then parse them.', load: () => import('./fetch.ts')},
  {name: 'parse', summary: 'Read fetched pages: text, metadata, signatures and links.', load: () => import('./parse.ts')},
  {name: 'parse-diff', summary: 'Show what differs between two parses: status, charset, titles, text, links.', load: () => import('./parse-diff.ts')},
  {name: 'updatedb', summary: 'Merge fetched segments into the crawldb.', load: () => import('./updatedb.ts')},
  {name: 'updatehostdb', summary: 'Count the URLs of each host anew, from the crawldb.', load: () => import('./updatehostdb.ts')},
  {name: 'dedup', summary: 'Mark duplicates over the whole crawldb.', load: () => import('./dedup.ts')},
  {name: 'invertlinks', summary: 'Turn the links of parsed segments round, into the linkdb.', load: () => import('./invertlinks.ts')},
  {name: 'linkrank', summary: 'Rank pages, hosts and domains by their links (PageRank).', load: () => import('./linkrank.ts')},
  {name: 'rekey', summary: 'Bring all URLs to the form of changed url settings.', load: () => import('./rekey.ts')},
  {name: 'compact', summary: 'Merge the deltas of the crawldb into its base.', load: () => import('./compact.ts')},
  {name: 'run', summary: 'Run whole rounds: generate, fetch, parse, updatedb, invertlinks.', load: () => import('./run.ts')},
  {name: 'status', summary: 'Show the crawl on one screen: counts, segments, locks, last runs, next step.', load: () => import('./status.ts')},
  {name: 'sql', summary: 'Ask the crawl a question in SQL; without a query, a prompt.', load: () => import('./sql.ts')},
  {name: 'readdb', summary: 'Read the crawldb: statistics, all rows, the best URLs, one URL.', load: () => import('./readdb.ts')},
  {name: 'readseg', summary: 'Read segments: list them, dump a part, get all that they hold of a URL.', load: () => import('./readseg.ts')},
  {name: 'readlinkdb', summary: 'Read the linkdb: who links to a URL, the most linked pages, the graph of hosts or domains.', load: () => import('./readlinkdb.ts')},
  {name: 'readhostdb', summary: 'Read the hostdb: counts, politeness and robots.txt of hosts.', load: () => import('./readhostdb.ts')},
  {name: 'domainstats', summary: 'Count URLs by host, domain, public suffix, top-level domain, HTTP code, scheme or path.', load: () => import('./domainstats.ts')},
  {name: 'cat', summary: 'Print the stored page of a URL: its body, headers or text.', load: () => import('./cat.ts')},
  {name: 'explain', summary: 'Tell what is known of a URL, and why it was or was not fetched.', load: () => import('./explain.ts')},
  {name: 'host', summary: 'Show what is known of a host, or set rules by hand for it.', load: () => import('./host.ts')},
  {name: 'check', summary: 'Try URLs, scope rules, robots.txt files, sitemaps and documents, and see what decides.', load: () => import('./check.ts')},
  {name: 'config', summary: 'Show each setting with its value and origin.', load: () => import('./config.ts')},
  {name: 'demo', summary: 'Crawl an embedded demo web on loopback, or with URLs a real one, into data/.', load: () => import('./demo.ts')},
  {name: 'traps', summary: 'Show families of URLs that are quarantined as traps; release or block them.', load: () => import('./traps.ts')},
  {name: 'schedule-sim', summary: 'Simulate recrawl schedules on a synthetic web, or on what this crawl saw change.', load: () => import('./schedule-sim.ts')},
  {name: 'verify', summary: 'Compare all files of the crawl with what was written.', load: () => import('./verify.ts')},
  {name: 'drop', summary: 'Take segments out of the crawl and release their URLs.', load: () => import('./drop.ts')},
  {name: 'mergesegs', summary: 'Merge segments into one: of each URL the newest capture.', load: () => import('./mergesegs.ts')},
  {name: 'merge', summary: 'Take other crawls into this one.', load: () => import('./merge.ts')},
  {name: 'rollback', summary: 'Make the crawl what it was as of an older manifest.', load: () => import('./rollback.ts')},
];
