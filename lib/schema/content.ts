import {type Row, table} from './table.ts';

export const content = table({
  name: 'content',
  version: 1,
  doc: 'One row for each payload of a segment, as received: transfer coding removed, content coding kept.',
  key: ['content_sha256'],
  columns: {
    segment: {type: 'text', doc: 'Segment id.'},
    content_sha256: {type: 'text', doc: 'SHA-256, hex, of the payload; fetch rows refer to it.'},
    content_digest: {type: 'text', doc: 'SHA-1, base32, of the payload.', source: 'Common Crawl'},
    content_length: {type: 'count', unit: 'bytes', doc: 'Length of the payload.'},
    payload: {type: 'bytes', doc: 'The payload.'},
  },
});
export type ContentRow = Row<typeof content>;
