import {linkKinds} from './outlinks.ts';
import {type Row, table} from './table.ts';

export const linkdb = table({
  name: 'linkdb',
  version: 1,
  doc: 'One row for each link to a page, from the newest parse of each source page (Nutch: linkdb).',
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
  },
});
export type Inlink = Row<typeof linkdb>;
