import {reasonNames} from './reason.ts';
import {type Row, table} from './table.ts';

export const seeds = table({
  name: 'seeds',
  version: 1,
  doc: 'One row for each seed line that was injected, rejected ones too.',
  key: ['run', 'source', 'line'],
  columns: {
    run: {type: 'text', doc: 'Run of inject that read the line.'},
    source: {type: 'text', doc: 'File name, `-` for standard input, or `argument`.'},
    line: {type: 'int32', doc: 'Line in the file, from 1; position among the arguments.'},
    text: {type: 'text', doc: 'The line as it was, at most 8,192 characters.'},
    url: {type: 'text', nullable: true, doc: 'Normalized URL; null where there is none.'},
    host_key: {type: 'key', nullable: true, doc: 'Key of its host.'},
    url_key: {type: 'key', nullable: true, doc: 'Key of the URL.'},
    tag: {type: 'text', nullable: true, doc: 'Seed tag (`tag=`).'},
    seed_group: {type: 'text', nullable: true, doc: 'Named group of seeds (`group=`).'},
    score: {type: 'double', nullable: true, doc: 'Score given on the line.', source: 'Nutch nutch.score'},
    scope: {
      type: 'text',
      nullable: true,
      values: ['any', 'domain', 'host', 'path'],
      doc: 'How far links may lead from this seed.',
    },
    outcome: {
      type: 'text',
      values: ['added', 'updated', 'known', 'rejected'],
      doc: 'What inject made of it.',
    },
    reason: {type: 'text', values: reasonNames, nullable: true, doc: 'Why it was not added.'},
    detail: {
      type: 'text',
      nullable: true,
      doc: 'The deciding rule, file and line, or what could not be read.',
    },
    injected_time: {type: 'timestamp', doc: 'When.'},
  },
});
export type SeedRow = Row<typeof seeds>;
