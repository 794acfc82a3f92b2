import {linkKinds} from './outlinks.ts';
import {type Row, table} from './table.ts';

export const linkdb = table({
  name: 'linkdb',
  version: 3,
  doc: 'One row for each link to a page, from the newest parse of each source page (Nutch: linkdb). The view linkdb has the best links.max_inlinks of a page, linkdb_all has all.',
  key: ['target_host_key', 'target_url_key', 'source_host_key', 'source_url_key'],
  columns: {
    target_host_key: {type: 'key', doc: 'Key of the target’s host.'},
    target_url_key: {type: 'key', doc: 'Key of the target.'},
    target_url: {type: 'text', doc: 'URL of the target.'},
    source_host_key: {type: 'key', doc: 'Key of the source’s host.'},
    source_url_key: {type: 'key', doc: 'Key of the source.'},
    source_url: {type: 'text', doc: 'URL of the source.'},
    anchor: {
      type: 'text',
      nullable: true,
      doc: 'Anchor of the first link from the source to the target that has one.',
    },
    rel: {type: 'text', nullable: true, doc: 'Its rel.'},
    kind: {type: 'text', values: linkKinds, doc: 'Kind of the first link.'},
    links: {type: 'int32', doc: 'Links from this source to this target.'},
    internal: {type: 'boolean', doc: 'Source and target are on one host.'},
    fetch_time: {type: 'timestamp', doc: 'When the source was fetched.'},
    segment: {type: 'text', doc: 'Segment of that fetch.'},
    revision: {
      type: 'count',
      nullable: true,
      since: 2,
      doc: 'Version of the linkdb that wrote this row; when its source is told anew by a later one, it counts no more.',
    },
    cut: {
      type: 'boolean',
      nullable: true,
      since: 3,
      doc: 'True where it was too many for links.max_inlinks when its file was written: it counts, and comes back when better ones go. Else null.',
    },
  },
});
export type Inlink = Row<typeof linkdb>;

export const linksources = table({
  name: 'linksources',
  version: 1,
  doc: 'One row for each time that the links of a page were told to the linkdb; its files stand in the slot of the linkdb.',
  key: ['source_host_key', 'source_url_key', 'revision'],
  columns: {
    source_host_key: {type: 'key', doc: 'Key of the page’s host.'},
    source_url_key: {type: 'key', doc: 'Key of the page.'},
    fetch_time: {type: 'timestamp', doc: 'When the page was fetched.'},
    again: {
      type: 'boolean',
      doc: 'It had been told before: older links of the page may stand in the linkdb.',
    },
    revision: {type: 'count', doc: 'Version of the linkdb that the links came with.'},
  },
});
