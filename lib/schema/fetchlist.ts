import {selections} from './status.ts';
import {type Row, table} from './table.ts';

export const fetchlist = table({
  name: 'fetchlist',
  version: 1,
  doc: 'One row for each URL selected for a segment (Nutch: crawl_generate).',
  key: ['partition', 'rank'],
  columns: {
    segment: {type: 'text', doc: 'Segment id.'},
    partition: {
      type: 'int32',
      doc: 'Fetch task that gets the URL: all hosts of a registered domain have one.',
    },
    rank: {type: 'int32', doc: 'Place in the order of selection, from 1.'},
    host_key: {type: 'key', doc: 'Key of the host.'},
    url_key: {type: 'key', doc: 'Key of the URL.'},
    url: {type: 'text', doc: 'Normalized URL.'},
    url_host_name: {type: 'text', doc: 'Host name.'},
    url_host_registered_domain: {type: 'text', doc: 'Registered domain.'},
    kind: {type: 'text', values: ['page', 'sitemap'], doc: 'What it is fetched for.'},
    selected_as: {type: 'text', values: selections, doc: 'Why it was selected.'},
    score: {type: 'double', doc: 'Score at the time of selection.'},
    depth: {type: 'int32', doc: 'Depth at the time of selection.'},
    seed: {type: 'text', nullable: true, doc: 'Seed that it was reached from.'},
    etag: {type: 'text', nullable: true, doc: 'ETag to send; only where the payload is held.'},
    last_modified: {
      type: 'text',
      nullable: true,
      doc: 'Last-Modified to send; only where the payload is held.',
    },
    content_digest: {type: 'text', nullable: true, doc: 'Digest of the last payload.'},
    content_segment: {type: 'text', nullable: true, doc: 'Segment of the last payload.'},
  },
});
export type FetchlistRow = Row<typeof fetchlist>;
