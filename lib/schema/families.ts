import {type Row, table} from './table.ts';

/** Families of URLs, and what was decided about them: two tables with one writer each. */

export const families = table({
  name: 'families',
  version: 2,
  doc: 'One row for each family of URLs that pages were fetched of: what was new in it, and whether it is quarantined as a trap. Written by updatedb.',
  key: ['place', 'pattern'],
  columns: {
    place: {
      type: 'text',
      doc: 'Host name, or *. and a registered domain for families over many hosts.',
      example: 'shop.example.org',
    },
    pattern: {
      type: 'text',
      doc: 'Path and query with what varies replaced by its kind: {n} numbers, {a} words, {x} tokens, {w} others, ?* several parameters.',
      example: '/calendar?day={n}&month={n}&year={n}',
    },
    example: {type: 'text', doc: 'The URL of it that was fetched last.'},
    pages: {type: 'count', doc: 'URLs of it that were asked for.'},
    fetched: {
      type: 'count',
      doc: 'Those in the window that judgement looks at; older ones count half, then less.',
    },
    novel: {type: 'count', doc: 'Of the window: pages whose text is like no other of the family.'},
    repeats: {type: 'count', doc: 'Of the window: pages whose text equals that of another word for word.'},
    inside: {type: 'count', doc: 'Of the window: pages found on a page of the same family.'},
    hosts: {
      type: 'count',
      doc: 'Hosts in it, where it is over a domain, those of each round added up; or words, where {a} stands for the one that a path begins with.',
    },
    samples: {
      type: 'bytes',
      doc: 'Fingerprints of the newest texts that differ, eight bytes each, least significant first.',
    },
    state: {
      type: 'text',
      values: ['open', 'quarantined'],
      doc: 'Quarantined: URLs of it are neither added nor selected, but for a few from probe_time on.',
    },
    verdict: {
      type: 'text',
      values: ['repeats', 'self_feeding'],
      nullable: true,
      doc: 'Why: the same text again and again, or no new content on pages that link to each other.',
    },
    state_time: {type: 'timestamp', nullable: true, doc: 'When it was quarantined, or opened again.'},
    probe_time: {type: 'timestamp', nullable: true, doc: 'When some URLs of it are tried again.'},
    probes: {type: 'int32', doc: 'Trials so far that found nothing new.'},
    refused: {type: 'count', doc: 'New URLs that were not added because of it.'},
    rounds: {
      type: 'int32',
      nullable: true,
      doc: 'Rounds that fetched pages of it since it was last judged anew; many with few pages each are a slow trap.',
      since: 2,
    },
  },
});
export type FamilyRow = Row<typeof families>;

export const familyrules = table({
  name: 'familyrules',
  version: 1,
  doc: 'One row for each family of URLs that was released or blocked by hand. Written by people, through `crawl traps`.',
  key: ['place', 'pattern'],
  columns: {
    place: {type: 'text', doc: 'Host name, or *. and a registered domain.'},
    pattern: {type: 'text', doc: 'The family, as in families.'},
    action: {
      type: 'text',
      values: ['release', 'block'],
      doc: 'release: never quarantined; block: neither added nor selected.',
    },
    note: {type: 'text', nullable: true, doc: 'Why, for the next person.'},
    changed_time: {type: 'timestamp', doc: 'When the rule was made.'},
  },
});
export type FamilyRuleRow = Row<typeof familyrules>;
