import {existsSync} from 'node:fs';
import {CrawlError} from '../lib/errors.ts';
import type {FileRef, Manifest, Slot} from '../lib/store/manifest-types.ts';
import {journalFolder} from '../lib/store/place.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {defineJob} from './job.ts';

/**
 * What a rollback leaves as it is: hosts must not be asked sooner than they allow because we forgot that we had asked
 * them; rules by hand are people's; and the history of runs is what happened.
 */
export const keptSlots = ['hoststate', 'robots', 'hostrules', 'familyrules', 'runs'] as const;

/**
 * Makes the crawl what it was as of an older manifest, by a new manifest: nothing is removed, and a rollback can be
 * rolled back. Segments made since are no part of the crawl any more; those dropped since are again. Files that the
 * older manifest names are kept as long as it is kept.
 */
export const rollback = defineJob({
  name: 'rollback',
  summary: 'Make the crawl what it was as of an older manifest.',
  options: {
    to: {kind: 'count', doc: 'Number of that manifest.'},
    force: {
      kind: 'flag',
      default: false,
      doc: 'Also where captures of an unfinished fetch, which are in no manifest, are lost.',
    },
  },
  locks: () => ['crawldb', 'linkdb', 'fetching'],

  async plan({to, force}, {snapshot, store, now, log}) {
    if (to === undefined) throw new CrawlError('USAGE', 'name the manifest to go back to');
    const head = snapshot.manifest;
    if (to >= head.number)
      throw new CrawlError(
        'USAGE',
        `manifest ${to} is ${to === head.number ? 'the present one' : 'in the future'}`,
        {
          hint: 'crawl rollback lists those that are kept.',
        },
      );
    const target = await store.at(to);
    if (!force) refuseLosses(snapshot, target.manifest);
    const writes: Record<string, readonly FileRef[] | null> = {};
    for (const slot of changedSlots(head, target.manifest)) {
      const files = await target.files(slot);
      // A table of the whole crawl keeps its slot, and with it the count of its versions
      writes[slot] = files.length === 0 && slot.startsWith('segments/') ? null : files;
    }
    if (Object.keys(writes).length === 0 && sameSegments(head, target.manifest)) {
      log('info', 'nothing_to_roll_back', {manifest: to});
      return undefined;
    }
    const {segments, policies, summary} = target.manifest;
    return {
      base: head.number,
      now: now(),
      tasks: [{stage: 0, part: 0, inputs: [], params: {...changes(head, target.manifest)}}],
      facts: {writes, restored: {segments, policies, summary}},
    };
  },

  run: (task) => Promise.resolve({files: [], counters: {}, reasons: {}, facts: task.params}),

  next(plan) {
    // Both made by plan
    const writes = plan.facts?.writes as Readonly<Record<string, readonly FileRef[] | null>>;
    const restores = plan.facts?.restored as Pick<Manifest, 'segments' | 'policies' | 'summary'>;
    return {edit: {reads: [], writes, opens: true, restores}};
  },
});

/** Slots whose list of files is another one. */
function changedSlots(head: Manifest, target: Manifest): string[] {
  const names = new Set([...Object.keys(head.slots), ...Object.keys(target.slots)]);
  for (const name of keptSlots) names.delete(name);
  const same = (one: Slot | undefined, other: Slot | undefined) =>
    one?.sha256 === other?.sha256 || ((one?.files ?? 0) === 0 && (other?.files ?? 0) === 0);
  return [...names].filter((name) => !same(head.slots[name], target.slots[name])).sort();
}

/** Whether the facts of all segments are the same; versions aside, which a former rollback has raised. */
function sameSegments(head: Manifest, target: Manifest): boolean {
  const facts = ({segments}: Manifest) =>
    JSON.stringify(Object.entries(segments).map(([id, info]) => ({...info, id, version: 0})));
  return facts(head) === facts(target);
}

/** Journals hold captures that no manifest names yet; those of segments that go would go with them. */
function refuseLosses(snapshot: Snapshot, target: Manifest): void {
  const lost = snapshot.segments.filter(
    (id) => target.segments[id] === undefined && existsSync(journalFolder(snapshot.store.dir, id)),
  );
  if (lost.length > 0)
    throw new CrawlError('SEGMENT_STATE', `unfinished fetches would be lost: ${lost.join(' ')}`, {
      facts: {segments: lost},
      hint: 'crawl fetch finishes them, crawl fetch --close SEGMENT ends one; --force gives them up.',
    });
}

/** What people are told of a rollback. */
export interface RollbackChanges {
  readonly from: number;
  readonly to: number;
  readonly segmentsGone: readonly string[];
  readonly segmentsBack: readonly string[];
  readonly urlsBefore: number;
  readonly urlsAfter: number;
}

function changes(head: Manifest, target: Manifest): RollbackChanges {
  return {
    from: head.number,
    to: target.number,
    segmentsGone: Object.keys(head.segments).filter((id) => target.segments[id] === undefined),
    segmentsBack: Object.keys(target.segments).filter((id) => head.segments[id] === undefined),
    urlsBefore: head.summary.urls ?? 0,
    urlsAfter: target.summary.urls ?? 0,
  };
}
