import type {Snapshot} from './store.ts';

/** Hex digits of a hash: enough to tell segments apart, and a manifest holds one for each that was ever merged. */
const digits = 16;

/**
 * Which captures a segment holds, whatever it is called and in whichever crawl it lies: hashes of the lists of captures
 * with which they were first committed. So what came by a merge, or was made one by mergesegs, is known again.
 */
export function originsOf({manifest}: Snapshot, id: string): readonly string[] {
  const from = manifest.segments[id]?.merged_from;
  const list = manifest.slots[`segments/${id}/fetch`]?.sha256;
  // A text in crawls from before there could be several
  return [from ?? list ?? []].flat().map((hash) => hash.slice(0, digits));
}

/** Names of segments here by the origins of their captures; of several that have one, the newest. */
export function segmentsByOrigin(snapshot: Snapshot): ReadonlyMap<string, string> {
  return new Map(snapshot.segments.flatMap((id) => originsOf(snapshot, id).map((origin) => [origin, id])));
}
