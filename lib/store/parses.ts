import {CrawlError} from '../errors.ts';
import {nearest} from '../nearest.ts';
import type {Manifest} from './manifest-types.ts';
import type {Snapshot} from './store.ts';

/** A parse of a segment. */
export interface SegmentParse {
  readonly segment: string;
  readonly parse: string;
  readonly captures: number;
  readonly links: number;
  /** `parse` and `outlinks` show it. */
  readonly current: boolean;
  /** updatedb has applied it. */
  readonly applied: boolean;
  /** The condition by which its captures were chosen; null: it has all of them. */
  readonly where: string | null;
  /** All that was fetched is in it; a fetch that went on since has added captures. */
  readonly complete: boolean;
}

/** All parses, in order of segment and name. */
export async function listParses(
  snapshot: Snapshot,
  segments: readonly string[] = snapshot.segments,
): Promise<SegmentParse[]> {
  const found: SegmentParse[] = [];
  for (const [slot, {rows}] of Object.entries(snapshot.manifest.slots)) {
    const [, segment, parse] = /^segments\/([^/]+)\/parse\/([^/]+)$/.exec(slot) ?? [];
    if (segment === undefined || parse === undefined || !segments.includes(segment)) continue;
    const {current, applied} = snapshot.segment(segment);
    const [file] = await snapshot.files(slot);
    const fetchVersion = snapshot.manifest.slots[`segments/${segment}/fetch`]?.version;
    const where = typeof file?.facts?.where === 'string' ? file.facts.where : null;
    found.push({
      segment,
      parse,
      captures: rows,
      links: snapshot.manifest.slots[`segments/${segment}/outlinks/${parse}`]?.rows ?? 0,
      current: current === parse,
      applied: applied === parse,
      where,
      complete: where === null && file?.facts?.fetch_version === fetchVersion,
    });
  }
  return found.sort((a, b) => compare(a.segment, b.segment) || compare(a.parse, b.parse));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Names of parses, each once, in order. */
export function parseNames({slots}: Pick<Manifest, 'slots'>): string[] {
  const names = Object.keys(slots).flatMap(
    (slot) => /^segments\/[^/]+\/parse\/([^/]+)$/.exec(slot)?.[1] ?? [],
  );
  return [...new Set(names)].sort();
}

/** Throws PARSE_UNKNOWN, with the names that there are, for a name that no segment has. */
export function checkParseName(name: string, {manifest}: Pick<Snapshot, 'manifest'>): void {
  const known = parseNames(manifest);
  if (known.includes(name)) return;
  const near = nearest(name, known);
  throw new CrawlError(
    'PARSE_UNKNOWN',
    `no parse ${name}${near === undefined ? '' : `; did you mean ${near}?`}`,
    {
      facts: {parse: name},
      hint: known.length === 0 ? 'Nothing is parsed yet: crawl parse' : `Parses: ${known.join(' ')}`,
    },
  );
}

/** A name that version and configuration gave, and nobody. */
export function isGivenName(name: string): boolean {
  return !/^v\d+-[0-9a-f]{8}$/.test(name);
}
