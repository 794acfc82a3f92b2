import type {Snapshot} from './store.ts';

/**
 * Which captures a segment holds, whatever it is called and in whichever crawl it lies: hashes of the lists of captures
 * with which they were first committed. So what came by a merge, or was made one by mergesegs, is known again.
 */
export function originsOf({manifest}: Snapshot, id: string): readonly string[] {
  const from = manifest.segments[id]?.merged_from;
  if (from !== undefined) return [from].flat(); // a text in crawls from before there could be several
  const list = manifest.slots[`segments/${id}/fetch`]?.sha256;
  return list === undefined ? [] : [list];
}

/** Names of segments here by the origins of their captures; of several that have one, the newest. */
export function segmentsByOrigin(snapshot: Snapshot): ReadonlyMap<string, string> {
  return new Map(snapshot.segments.flatMap((id) => originsOf(snapshot, id).map((origin) => [origin, id])));
}
