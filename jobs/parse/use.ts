import {CrawlError} from '../../lib/errors.ts';
import {checkParseName, listParses} from '../../lib/store/parses.ts';
import {defineJob} from '../job.ts';

/** What a switch did, as its report has it. */
export interface SwitchedParses {
  readonly parse: string;
  /** Segments whose current parse it is by now. */
  readonly switched: readonly string[];
  /** Segments that keep their present parse (null: they have none), and why. */
  readonly kept: readonly {
    readonly segment: string;
    readonly current: string | null;
    readonly why: 'absent' | 'partial' | 'incomplete' | 'current';
  }[];
}

/**
 * Makes a parse the current one of each segment that has it. Nothing is read or written but the manifest: `parse` and
 * `outlinks` show it from then on, and the next updatedb and invertlinks take it.
 */
export const useParse = defineJob({
  name: 'parse-use',
  summary: 'Make a parse the current one.',
  options: {
    use: {kind: 'text', default: '', doc: 'Name of the parse.'},
    segment: {kind: 'list', default: [], doc: 'Segments; all that have it if absent.'},
  },
  locks: () => ['parse'],

  async plan({use, segment}, {snapshot, now, log}) {
    checkParseName(use, snapshot);
    const wanted = segment.length > 0 ? [...new Set(segment)].sort() : snapshot.segments;
    for (const id of wanted) snapshot.segment(id);
    const parses = new Map(
      (await listParses(snapshot, wanted))
        .filter(({parse}) => parse === use)
        .map((one) => [one.segment, one]),
    );
    const switched: string[] = [];
    const kept: SwitchedParses['kept'][number][] = [];
    for (const id of wanted) {
      const {current = null, state} = snapshot.segment(id);
      const found = parses.get(id);
      if (found === undefined) {
        if (state === 'fetched') kept.push({segment: id, current, why: 'absent'});
      } else if (found.current) kept.push({segment: id, current, why: 'current'});
      else if (found.where !== null) kept.push({segment: id, current, why: 'partial'});
      else if (!found.complete) kept.push({segment: id, current, why: 'incomplete'});
      else switched.push(id);
    }
    const result: SwitchedParses = {parse: use, switched, kept};
    const partial = kept.filter(({why}) => why === 'partial').map(({segment: id}) => id);
    if (switched.length === 0 && partial.length > 0)
      throw new CrawlError('PARSE_PARTIAL', `parse ${use} has only some captures of ${partial.join(', ')}`, {
        facts: {parse: use, segments: partial},
        hint: `Parse all of them first: crawl parse --as ${use} ${partial.join(' ')}`,
      });
    if (switched.length === 0) {
      log('info', 'nothing_to_switch', {parse: use, kept});
      return undefined;
    }
    return {
      base: snapshot.manifest.number,
      now: now(),
      ...(switched.length === 1 ? {segment: switched[0]!} : {}),
      tasks: [{stage: 0, part: 0, inputs: [], params: {...result}}],
      facts: {...result},
    };
  },

  run: ({params}) => Promise.resolve({files: [], counters: {}, reasons: {}, facts: params}),

  next(plan) {
    const {parse, switched} = plan.facts as unknown as SwitchedParses; // made by plan
    return {
      edit: {
        reads: switched.flatMap((id) => [
          `segments/${id}`,
          `segments/${id}/fetch`,
          `segments/${id}/parse/${parse}`,
        ]),
        writes: {},
        segments: Object.fromEntries(switched.map((id) => [id, {current: parse}])),
      },
    };
  },
});
