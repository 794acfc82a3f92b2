import type {FileRef} from '../../lib/store/manifest-types.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import type {ExtractorOrder, ExtractorOrders} from '../extract/describe.ts';
import type {TaskResult} from '../job.ts';
import {extractSlots} from './extraction.ts';

/** What the rows of an extractor depend on: kept with its files, so that stale ones are noticed. */
export interface ExtractState {
  /** Version of the fetch slot that was read. */
  readonly fetchVersion: number;
  /** Parser and configuration, as the name of the parse that they give. */
  readonly parser: string;
  /** Time of the plan, ms: the columns that were declared last hold where declarations differ. */
  readonly now: number;
  /** The condition that chose the captures, where one did: then the rows are not all. */
  readonly where?: string;
}

/** Extractors whose rows a parse of a segment lacks, or has of a former state of extractor, parser or fetch. */
export async function lackingExtractors(
  snapshot: Snapshot,
  segment: string,
  parseId: string,
  orders: readonly ExtractorOrder[],
  state: ExtractState,
): Promise<ExtractorOrder[]> {
  const lacking: ExtractorOrder[] = [];
  for (const order of orders) {
    const files = await snapshot.files(extractSlots(segment, order.declaration.name, parseId).outcomes);
    const fresh =
      files.length > 0 &&
      files.every(
        ({facts}) =>
          facts?.digest === order.digest &&
          facts.parser === state.parser &&
          facts.fetch_version === state.fetchVersion &&
          facts.where === undefined,
      );
    if (!fresh) lacking.push(order);
  }
  return lacking;
}

/**
 * Extractors to run beside a parse of a segment that is there and stays as it is: those given with --with, wherever
 * they are lacking; those of crawl.yaml where the segment is open, or stale ones are asked for. `held`: there are
 * some that are not.
 */
export async function extractorsBeside(
  snapshot: Snapshot,
  segment: string,
  parseId: string,
  {configured, given}: ExtractorOrders,
  state: ExtractState,
  all: boolean,
): Promise<{readonly orders: readonly ExtractorOrder[]; readonly held: boolean}> {
  if (snapshot.manifest.slots[`segments/${segment}/parse/${parseId}`] === undefined)
    return {orders: [], held: false};
  const asked = await lackingExtractors(snapshot, segment, parseId, given, state);
  const standing = await lackingExtractors(snapshot, segment, parseId, configured, state);
  return all ? {orders: [...standing, ...asked], held: false} : {orders: asked, held: standing.length > 0};
}

/** Slots that extractors have filled, with what the files depend on. */
export function extractWrites(
  results: readonly TaskResult[],
  segment: string,
  parseId: string,
  orders: readonly ExtractorOrder[],
  state: ExtractState,
): Record<string, readonly FileRef[]> {
  const files = results.flatMap((result) => result.files);
  const writes: Record<string, readonly FileRef[]> = {};
  for (const {declaration, digest} of orders) {
    const facts = {
      fetch_version: state.fetchVersion,
      parser: state.parser,
      digest,
      planned_time: state.now,
      ...(state.where !== undefined && {where: state.where}),
      declaration: JSON.stringify(declaration),
    };
    for (const slot of Object.values(extractSlots(segment, declaration.name, parseId)))
      writes[slot] = files
        .filter(({key}) => key.startsWith(`${slot}/`))
        .map((file) => ({...file, facts: {...file.facts, ...facts}}));
  }
  return writes;
}
