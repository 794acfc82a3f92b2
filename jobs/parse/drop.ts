import {CrawlError} from '../../lib/errors.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {checkParseName} from '../../lib/store/parses.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {defineJob} from '../job.ts';

/** What was removed, as the report of the job has it. */
export interface DroppedParses {
  readonly parse: string;
  /** Segments that have it no more. */
  readonly dropped: readonly string[];
  /** Segments that keep it, and what stands on it: `parse` and `outlinks` show it, or the crawldb has its links. */
  readonly kept: readonly {readonly segment: string; readonly why: 'current' | 'applied'}[];
  /** Of all files that go. */
  readonly bytes: number;
}

/**
 * Removes a parse, with the rows of extractors beside it, from each segment that does not stand on it. Its files stay
 * on disk, and in `--as-of`, as long as older manifests name them.
 *
 * A segment stands on its current parse, and on the one that updatedb has applied: the links of that one are what the
 * next updatedb compares with.
 */
export const dropParse = defineJob({
  name: 'parse-drop',
  summary: 'Remove a parse.',
  options: {
    drop: {kind: 'text', default: '', doc: 'Name of the parse.'},
    segment: {kind: 'list', default: [], doc: 'Segments; all that have it if absent.'},
  },
  locks: () => ['parse'],

  async plan({drop, segment}, {snapshot, now}) {
    checkParseName(drop, snapshot);
    const wanted = segment.length > 0 ? [...new Set(segment)].sort() : snapshot.segments;
    const slots: Record<string, readonly string[]> = {};
    const kept: DroppedParses['kept'][number][] = [];
    let bytes = 0;
    for (const id of wanted) {
      const {current, applied} = snapshot.segment(id);
      const own = slotsOf(snapshot, id, drop);
      if (own.length === 0) continue;
      if (current === drop) kept.push({segment: id, why: 'current'});
      else if (applied === drop) kept.push({segment: id, why: 'applied'});
      else {
        slots[id] = own;
        for (const slot of own) bytes += snapshot.manifest.slots[slot]!.bytes;
      }
    }
    const dropped = Object.keys(slots);
    if (dropped.length === 0) throw inUse(drop, kept);
    return {
      base: snapshot.manifest.number,
      now: now(),
      ...(dropped.length === 1 ? {segment: dropped[0]!} : {}),
      tasks: [{stage: 0, part: 0, inputs: [], params: {parse: drop, dropped, kept, bytes}}],
      facts: {
        slots,
        // A later parse of that name is another one, which invertlinks has not seen.
        inverted: dropped.filter((id) => snapshot.segment(id).inverted === drop),
      },
    };
  },

  run: ({params}) => Promise.resolve({files: [], counters: {}, reasons: {}, facts: params}),

  next(plan) {
    const {slots, inverted} = plan.facts as unknown as {
      slots: Readonly<Record<string, readonly string[]>>;
      inverted: readonly string[];
    }; // made by plan
    const ids = Object.keys(slots);
    const gone = ids.flatMap((id) => slots[id]!);
    return {
      edit: {
        reads: [...ids.map((id) => `segments/${id}`), ...gone],
        writes: Object.fromEntries(gone.map((slot): [string, readonly FileRef[] | null] => [slot, null])),
        // Each of them gets a new version, so that what was planned with the parse is planned anew.
        segments: Object.fromEntries(ids.map((id) => [id, inverted.includes(id) ? {inverted: null} : {}])),
      },
    };
  },
});

/** Slots of a parse of a segment: its pages, its links, and what extractors gave beside it. */
function slotsOf({manifest}: Snapshot, segment: string, parse: string): string[] {
  return Object.keys(manifest.slots).filter((slot) => {
    const [folder, id, part, ...rest] = slot.split('/');
    if (folder !== 'segments' || id !== segment) return false;
    return part === 'parse' || part === 'outlinks'
      ? rest[0] === parse
      : (part === 'extract' || part === 'extractions') && rest[1] === parse;
  });
}

function inUse(parse: string, kept: DroppedParses['kept']): CrawlError {
  if (kept.length === 0)
    return new CrawlError('PARSE_UNKNOWN', `the segments named have no parse ${parse}`, {facts: {parse}});
  const of = (why: string) => kept.filter((one) => one.why === why).map(({segment}) => segment);
  const [current, applied] = [of('current'), of('applied')];
  const says = [
    ...(current.length > 0 ? [`current in ${current.join(', ')}`] : []),
    ...(applied.length > 0 ? [`applied to the crawldb in ${applied.join(', ')}`] : []),
  ];
  return new CrawlError('PARSE_IN_USE', `parse ${parse} is ${says.join('; ')}`, {
    facts: {parse, kept},
    hint:
      current.length > 0
        ? 'Make another one current first (crawl parse --use NAME), and apply it: crawl updatedb'
        : 'Apply the current one first: crawl updatedb',
  });
}
