import type {Manifest, SegmentInfo} from '../jobs/status.ts';

/** State of a segment in the words of the jobs that made it; reparsed: applied, and another parse is current by now. */
export type SegmentStage =
  | 'generated'
  | 'fetching'
  | 'fetched'
  | 'parsed'
  | 'applied'
  | 'reparsed'
  | 'inverted';

export function stageOf(info: SegmentInfo): SegmentStage {
  if (info.applied !== undefined && info.applied === (info.current ?? null))
    return info.inverted !== undefined && info.inverted === info.current ? 'inverted' : 'applied';
  if (info.applied !== undefined) return 'reparsed';
  if (info.state !== 'fetched') return info.state;
  return info.current === undefined ? 'fetched' : 'parsed';
}

/** The command that brings the crawl on, and why. */
export function nextStep(manifest: Pick<Manifest, 'segments' | 'slots'>): {
  readonly command: string;
  readonly why: string;
} {
  const stages = Object.values(manifest.segments).map(stageOf);
  const has = (...wanted: SegmentStage[]) => stages.some((stage) => wanted.includes(stage));
  if (manifest.slots.crawldb === undefined) return {command: 'crawl inject', why: 'no URL is known yet'};
  if (has('generated', 'fetching')) return {command: 'crawl fetch', why: 'a segment waits to be fetched'};
  if (has('fetched')) return {command: 'crawl parse', why: 'a segment is fetched and not parsed'};
  if (has('parsed')) return {command: 'crawl updatedb', why: 'a segment is parsed and not applied'};
  if (has('reparsed'))
    return {command: 'crawl updatedb', why: 'of a segment another parse is current than is applied'};
  if (has('applied'))
    return {command: 'crawl invertlinks', why: 'a segment is applied and its links are not inverted'};
  const none = Object.keys(manifest.segments).length === 0;
  return {command: 'crawl generate', why: none ? 'there is no segment yet' : 'all segments are done'};
}
