import {reasonNames} from './reason.ts';
import {type Row, table} from './table.ts';

export const refusals = table({
  name: 'refusals',
  version: 1,
  doc: 'One row for each URL that a segment led to and updatedb did not add, although parse had accepted the link. Outlinks are written before that is known: the view outlinks shows the reason from here.',
  key: ['host_key', 'url_key', 'parse_id', 'url'],
  columns: {
    segment: {type: 'text', doc: 'Segment id.'},
    parse_id: {
      type: 'text',
      nullable: true,
      doc: 'Parse that found the link; null for what the fetch itself led to: targets of redirects.',
    },
    host_key: {type: 'key', doc: 'Key of the URL’s host.'},
    url_key: {type: 'key', doc: 'Key of the URL.'},
    url: {type: 'text', doc: 'The URL that was not added.'},
    url_host_name: {type: 'text', doc: 'Its host.'},
    from_url: {type: 'text', nullable: true, doc: 'A page that links to it: the first in order of URL.'},
    reason: {type: 'text', values: reasonNames, doc: 'Why not.', example: 'over_budget'},
    refused_time: {type: 'timestamp', doc: 'When updatedb decided.'},
  },
});
export type RefusalRow = Row<typeof refusals>;
