import type {Snapshot} from '../../lib/store/store.ts';

/**
 * Segments that lock their URLs: not applied, and not so old that they count no more.
 *
 * @param now milliseconds since the epoch
 */
export function openSegments(snapshot: Snapshot, now: number, lapseMs: number): string[] {
  return snapshot.segments.filter((id) => {
    const {applied, generated_time} = snapshot.segment(id);
    return applied === undefined && Date.parse(generated_time) + lapseMs > now;
  });
}
