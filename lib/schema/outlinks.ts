import {reasonNames} from './reason.ts';
import {hopTypes} from './status.ts';
import {type Row, table} from './table.ts';

/** Where in a document a link was found. */
export const linkKinds = [
  'a',
  'area',
  'link',
  'iframe',
  'frame',
  'img',
  'srcset',
  'script',
  'style',
  'media',
  'embed',
  'form',
  'css',
  'meta_refresh',
  'canonical',
  'alternate',
  'amphtml',
  'next',
  'prev',
  'og_url',
  'feed',
  'sitemap',
  'header',
  'text',
  'pdf',
  'json',
] as const;
export type LinkKind = (typeof linkKinds)[number];

export const outlinks = table({
  name: 'outlinks',
  version: 3,
  doc: 'One row for each link found by a parse, the rejected ones with their reason (Nutch: crawl_parse, linked).',
  key: ['from_host_key', 'from_url_key', 'capture_id', 'position'],
  columns: {
    segment: {type: 'text', doc: 'Segment id.'},
    parse_id: {type: 'text', doc: 'Name of the parse.'},
    capture_id: {type: 'text', doc: 'Capture that the link was found in.'},
    position: {type: 'int32', doc: 'Place among the links of the page, from 0.'},
    from_host_key: {type: 'key', doc: 'Key of the page’s host.'},
    from_url_key: {type: 'key', doc: 'Key of the page.'},
    from_url: {type: 'text', doc: 'URL of the page.'},
    fetch_time: {type: 'timestamp', doc: 'When the page was fetched.'},
    to_host_key: {type: 'key', nullable: true, doc: 'Key of the target’s host; null where there is no URL.'},
    to_url_key: {type: 'key', nullable: true, doc: 'Key of the target.'},
    to_url: {type: 'text', nullable: true, doc: 'Normalized URL of the target; null where there is none.'},
    to_host_name: {type: 'text', nullable: true, doc: 'Host of the target.'},
    to_registered_domain: {type: 'text', nullable: true, doc: 'Registered domain of the target.'},
    href: {type: 'text', doc: 'The link as written, at most 4,096 characters.'},
    anchor: {type: 'text', nullable: true, doc: 'Text of the link that a reader sees.'},
    rel: {
      type: 'text',
      nullable: true,
      doc: 'rel attribute, lower case; `sitemap` also for a sitemap that an index file names.',
    },
    kind: {type: 'text', values: linkKinds, doc: 'Where it was found.'},
    hop_type: {
      type: 'text',
      values: hopTypes,
      doc: 'L link, E embed, R redirect, S sitemap.',
      source: 'Heritrix',
    },
    depth: {type: 'int32', doc: 'Depth the target would have.'},
    seed: {type: 'text', nullable: true, doc: 'Seed of the page.'},
    lastmod: {
      type: 'timestamp',
      nullable: true,
      doc: 'Modification time that a sitemap or feed states for the target.',
    },
    accepted: {
      type: 'boolean',
      doc: 'updatedb may add the target; in SQL false where it was not added, too (refusals).',
    },
    reason: {type: 'text', values: reasonNames, nullable: true, doc: 'Why not.'},
    rule: {type: 'text', nullable: true, doc: 'Deciding rule with file and line.'},
    rules_digest: {
      type: 'text',
      doc: 'Digest of the rules that decided; updatedb decides anew where it differs.',
    },
    sitemap_priority: {
      type: 'double',
      nullable: true,
      since: 2,
      doc: 'priority that a sitemap states, 0 to 1; used where links.sitemap_hints is on.',
      source: 'sitemaps.org',
    },
    sitemap_changefreq: {
      type: 'text',
      nullable: true,
      since: 2,
      doc: 'changefreq that a sitemap states; used where links.sitemap_hints is on.',
      source: 'sitemaps.org',
    },
    hreflang: {
      type: 'text',
      nullable: true,
      since: 3,
      doc: 'Language of the target as an alternate link states it, lower case: `de`, `pt-br`, `x-default`.',
      source: 'HTML hreflang',
    },
  },
});
export type Outlink = Row<typeof outlinks>;
