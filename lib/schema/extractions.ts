import {reasonNames} from './reason.ts';
import {table} from './table.ts';

export const extractions = table({
  name: 'extractions',
  version: 1,
  doc: 'One row for each page and extractor: what came of it. The rows that it gave are in the table of its name.',
  key: ['host_key', 'url_key', 'capture_id', 'extractor'],
  columns: {
    segment: {type: 'text', doc: 'Segment id.'},
    parse_id: {type: 'text', doc: 'Name of the parse that it stands beside.'},
    capture_id: {type: 'text', doc: 'Capture that was read.'},
    host_key: {type: 'key', doc: 'Key of the host.'},
    url_key: {type: 'key', doc: 'Key of the URL.'},
    url: {type: 'text', doc: 'URL of the capture.'},
    extractor: {type: 'text', doc: 'Name of the extractor, which is that of its table.'},
    digest: {type: 'text', doc: 'Digest of the extractor’s files, first 16 hex digits.'},
    status: {
      type: 'text',
      values: ['success', 'partial', 'failed', 'skipped'],
      doc: 'Outcome: partial means that there were more rows than are kept; of a page that failed there are none.',
    },
    reason: {type: 'text', values: reasonNames, nullable: true, doc: 'Why it is no success.'},
    error: {type: 'text', nullable: true, doc: 'What went wrong, for people.'},
    rows: {type: 'int32', doc: 'Rows that the page gave.'},
    extract_ms: {type: 'double', unit: 'milliseconds', doc: 'Time the extractor took.'},
  },
});
