import {access} from 'node:fs/promises';
import {CrawlError} from '../lib/errors.ts';
import {fetch} from '../lib/schema/fetch.ts';
import {fetchlist} from '../lib/schema/fetchlist.ts';
import {readTable} from '../lib/store/parquet-read.ts';
import {journalFolder} from '../lib/store/place.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {defineJob} from './job.ts';

/**
 * Takes segments out of the crawl: their URLs may be selected again, their captures and links are gone from SQL. What
 * updatedb has taken from them stays in the crawldb. The files stay on disk as long as older manifests name them.
 */
export const drop = defineJob({
  name: 'drop',
  summary: 'Take segments out of the crawl and release their URLs.',
  options: {
    segment: {kind: 'list', default: [], doc: 'Segments to drop.'},
    force: {kind: 'flag', default: false, doc: 'Also a segment that holds captures.'},
  },
  // Only with --force are captures dropped: a running fetch may refer to the payloads.
  locks: ({segment, force}) => [...(force ? ['fetching'] : []), ...segment.map((id) => `segment:${id}`)],

  async plan({segment, force}, {snapshot, now, log}) {
    const ids = [...new Set(segment)].sort();
    if (ids.length === 0) throw new CrawlError('USAGE', 'name the segments to drop');
    for (const id of ids) {
      const info = snapshot.segment(id);
      if (info.state !== 'generated' && !force)
        throw new CrawlError(
          'SEGMENT_STATE',
          `segment ${id} is ${info.state}: dropping it loses its captures`,
          {
            facts: {segment: id, state: info.state},
            hint: 'crawl drop --force drops it all the same.',
          },
        );
      const users = await usersOf(snapshot, id, ids);
      if (users.length > 0)
        throw new CrawlError(
          'SEGMENT_STATE',
          `segment ${id} holds payloads that ${users.join(', ')} refer to`,
          {
            facts: {segment: id, users},
            hint: 'Drop those too, or keep it.',
          },
        );
      const open = await openUsersOf(snapshot, id, ids);
      if (open.length > 0)
        throw new CrawlError(
          'SEGMENT_STATE',
          `segment ${id} holds payloads that ${open.join(', ')}, not fetched to the end, may refer to`,
          {
            facts: {segment: id, users: open},
            hint: `First crawl fetch ${open[0]}, or crawl fetch --close ${open[0]}, or drop it too.`,
          },
        );
      log('debug', 'segment_dropped', {segment: id, state: info.state});
    }
    return {
      base: snapshot.manifest.number,
      now: now(),
      ...(ids.length === 1 ? {segment: ids[0]!} : {}),
      tasks: [{stage: 0, part: 0, inputs: [], params: {}}],
      facts: {ids},
    };
  },

  run: () => Promise.resolve({files: [], counters: {}, reasons: {}}),

  next(plan) {
    const ids = plan.facts?.ids as readonly string[]; // made by plan
    return {
      edit: {
        reads: ids.map((id) => `segments/${id}`),
        writes: {},
        segments: Object.fromEntries(ids.map((id) => [id, null])),
      },
    };
  },
});

/** Segments, but for those dropped with it, whose captures refer to payloads of `id`. */
async function usersOf(snapshot: Snapshot, id: string, dropped: readonly string[]): Promise<string[]> {
  if ((await snapshot.files(`segments/${id}/content`)).length === 0) return [];
  const users = new Set<string>();
  for (const other of snapshot.segments) {
    if (dropped.includes(other)) continue;
    for (const file of await snapshot.files(`segments/${other}/fetch`))
      for await (const rows of readTable(fetch, snapshot.store.path(file), {columns: ['content_segment']}))
        if (rows.some((row) => row.content_segment === id)) users.add(other);
  }
  return [...users].sort();
}

/**
 * Segments whose fetch is still to end, but for those dropped with it, that may refer to payloads of `id`: one that has a
 * journal may have met any of them, another will where its fetchlist says that `id` holds what is known of a page.
 */
async function openUsersOf(snapshot: Snapshot, id: string, dropped: readonly string[]): Promise<string[]> {
  if ((await snapshot.files(`segments/${id}/content`)).length === 0) return [];
  const users: string[] = [];
  for (const other of snapshot.segments)
    if (!dropped.includes(other) && snapshot.segment(other).state !== 'fetched')
      if ((await hasJournal(snapshot, other)) || (await listRefersTo(snapshot, other, id))) users.push(other);
  return users;
}

/** Has its fetch begun? Also if it has crashed before it could tell. */
async function hasJournal(snapshot: Snapshot, segment: string): Promise<boolean> {
  if (snapshot.segment(segment).state === 'fetching') return true;
  return access(journalFolder(snapshot.store.dir, segment)).then(
    () => true,
    () => false,
  );
}

async function listRefersTo(snapshot: Snapshot, segment: string, id: string): Promise<boolean> {
  const columns = ['content_segment'] as const;
  for (const file of await snapshot.files(`segments/${segment}/fetchlist`))
    for await (const rows of readTable(fetchlist, snapshot.store.path(file), {columns}))
      if (rows.some((row) => row.content_segment === id)) return true;
  return false;
}
