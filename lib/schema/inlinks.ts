import {table} from './table.ts';

export const inlinks = table({
  name: 'inlinks',
  version: 1,
  doc: 'Changes of the number of pages that link to a URL, which its bucket of the crawldb has not taken up yet. Written by invertlinks; the view crawldb has them added.',
  key: ['host_key', 'url_key'],
  columns: {
    host_key: {type: 'key', doc: 'Key of the host.'},
    url_key: {type: 'key', doc: 'Key of the URL; of one that the crawldb does not know, too.'},
    inlinks: {type: 'int32', doc: 'Pages that link to it now and did not, less those that do no more.'},
    revision: {type: 'count', doc: 'Version of this table that wrote the row.'},
  },
});
