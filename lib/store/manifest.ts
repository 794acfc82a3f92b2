import {createHash} from 'node:crypto';
import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {CrawlError, systemCode} from '../errors.ts';
import {hasLinks, readIfThere} from './durable.ts';
import {
  type Edit,
  type FileList,
  layoutVersion,
  type Manifest,
  type SegmentInfo,
  type Slot,
} from './manifest-types.ts';

/** Reading manifests and lists, and the pure part of a commit: what the next manifest is. */

export const manifestFolder = 'manifests';

export function manifestName(number: number): string {
  return `${String(number).padStart(9, '0')}.json`;
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

export interface ReadManifest {
  readonly manifest: Manifest;
  readonly sha256: string;
}

/** The manifest of a crawl in which nothing has happened yet. */
export const emptyManifest: Manifest = {
  layout_version: layoutVersion,
  number: 0,
  parent: null,
  created_time: new Date(0).toISOString(),
  run: '',
  job: 'init',
  open_version: 0,
  slots: {},
  segments: {},
  policies: {},
  summary: {},
  placements: [],
};

/** Numbers of the manifests that are there, ascending. */
export async function manifestNumbers(dir: string): Promise<number[]> {
  let names: string[];
  try {
    names = await readdir(join(dir, manifestFolder));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    if (systemCode(error) === 'ENOTDIR')
      throw new CrawlError('MANIFEST_INVALID', `${join(dir, manifestFolder)} is no folder`, {
        hint: 'Restore the folder manifests/ from a copy of the crawl.',
      });
    throw error;
  }
  return names
    .filter((name) => /^\d{9}\.json$/.test(name))
    .map((name) => Number(name.slice(0, 9)))
    .sort((a, b) => a - b);
}

/** Manifest `number`, or undefined where it is not there. Throws MANIFEST_INVALID or VERSION_NEWER. */
export async function readManifest(dir: string, number: number): Promise<ReadManifest | undefined> {
  const path = join(dir, manifestFolder, manifestName(number));
  const content = await readIfThere(path);
  if (content === undefined) return undefined;
  const manifest = parseManifest(content.toString('utf8'), path);
  if (manifest.number !== number) throw invalid(path, `it says that its number is ${manifest.number}`);
  return {manifest, sha256: sha256(content)};
}

/** The highest manifest, or undefined in a crawl without any. */
export async function readHighest(dir: string): Promise<ReadManifest | undefined> {
  const numbers = await manifestNumbers(dir);
  for (let i = numbers.length - 1; i >= 0; i--) {
    const number = numbers[i]!;
    try {
      const read = await readManifest(dir, number);
      if (read !== undefined) return read;
    } catch (error) {
      // Without hard links a power cut can tear the newest manifest: it was never complete, so it does not count.
      const torn =
        error instanceof CrawlError && error.code === 'MANIFEST_INVALID' && i === numbers.length - 1;
      if (!torn || (await hasLinks(join(dir, manifestFolder)))) throw error;
    }
  }
  return undefined;
}

/** What is wrong with the manifests that are kept: those that are not whole, or not the ones that later ones name. */
export async function readChain(dir: string): Promise<{readonly path: string; readonly why: string}[]> {
  const wrong: {path: string; why: string}[] = [];
  let before: {number: number; sha256: string} | undefined;
  for (const number of await manifestNumbers(dir)) {
    const path = `${manifestFolder}/${manifestName(number)}`;
    try {
      const read = await readManifest(dir, number);
      if (read === undefined) continue; // removed since by retention
      const {parent} = read.manifest;
      if (before !== undefined && parent?.number === before.number && parent.sha256 !== before.sha256)
        wrong.push({
          path: `${manifestFolder}/${manifestName(before.number)}`,
          why: `not the one that manifest ${number} came after`,
        });
      before = {number, sha256: read.sha256};
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      wrong.push({path, why: error.message});
      before = undefined;
    }
  }
  return wrong;
}

function invalid(path: string, why: string): CrawlError {
  return new CrawlError('MANIFEST_INVALID', `manifest ${path} is not whole: ${why}`, {
    facts: {path},
    hint: 'The manifest before it is whole: crawl sql --as-of N reads it, and to go back to it move this file away.',
  });
}

function parseManifest(text: string, path: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(path, error instanceof Error ? error.message : 'not JSON');
  }
  if (typeof value !== 'object' || value === null) throw invalid(path, 'not an object');
  const version = 'layout_version' in value ? value.layout_version : undefined;
  if (typeof version !== 'number') throw invalid(path, 'no layout_version');
  if (version > layoutVersion)
    throw new CrawlError(
      'VERSION_NEWER',
      `manifest ${path} has layout version ${version}; this program knows ${layoutVersion}`,
      {
        facts: {path, version},
      },
    );
  for (const key of Object.keys(emptyManifest)) if (!(key in value)) throw invalid(path, `no ${key}`);
  return value as Manifest; // checked: layout version and all keys; written by us otherwise
}

/** A slot's list of files. Throws FILE_MISSING or FILE_DAMAGED. */
export async function readList(dir: string, slot: Slot): Promise<FileList> {
  const path = join(dir, slot.ref);
  const content = await readIfThere(path);
  if (content === undefined)
    throw new CrawlError('FILE_MISSING', `list ${path}, which the manifest names, is missing`, {
      facts: {path},
    });
  if (sha256(content) !== slot.sha256)
    throw new CrawlError('FILE_DAMAGED', `list ${path} is not the one that the manifest names`, {
      facts: {path},
    });
  return JSON.parse(content.toString('utf8')) as FileList; // its hash is right, so it is as we wrote it
}

/** Version of a slot, of `segments/ID`, or of `open`; 0 for what is not there. */
export function versionOf(manifest: Manifest, name: string): number {
  if (name === 'open') return manifest.open_version;
  const slot = manifest.slots[name];
  if (slot !== undefined) return slot.version;
  const segment = /^segments\/(\d{14})$/.exec(name);
  return segment === null ? 0 : (manifest.segments[segment[1]!]?.version ?? 0);
}

/** Names that changed between base and head and that the edit depends on; empty if it can be rebased. */
export function conflicts(base: Manifest, head: Manifest, edit: Edit): string[] {
  if (base.number === head.number) return [];
  if (edit.restores !== undefined) return ['manifests'];
  const names = new Set([...edit.reads, ...Object.keys(edit.writes)]);
  if (edit.opens) names.add('open');
  const changed = [...names].filter((name) => versionOf(base, name) !== versionOf(head, name));
  for (const [id, info] of Object.entries(edit.segments ?? {})) {
    const known = base.segments[id] !== undefined;
    if (known !== (head.segments[id] !== undefined) && info !== null) changed.push(`segments/${id}`);
  }
  return changed;
}

/** The manifest after `head` with the edit's segments, policies and counts; slots are given, since their lists are written by the caller. */
export function nextManifest(
  head: ReadManifest | undefined,
  edit: Edit,
  slots: Readonly<Record<string, Slot | null>>,
  facts: Pick<Manifest, 'run' | 'job' | 'created_time' | 'placements'>,
): Manifest {
  const before = head?.manifest ?? emptyManifest;
  const segments: Record<string, SegmentInfo> = {...before.segments};
  const nextSlots: Record<string, Slot> = {...before.slots};
  for (const [name, slot] of Object.entries(slots))
    if (slot === null) delete nextSlots[name];
    else nextSlots[name] = slot;
  for (const [id, info] of Object.entries(edit.segments ?? {})) {
    if (info === null) {
      delete segments[id];
      for (const name of Object.keys(nextSlots))
        if (name.startsWith(`segments/${id}/`)) delete nextSlots[name];
      continue;
    }
    const old = segments[id];
    segments[id] = {...old, ...info, version: (old?.version ?? 0) + 1} as SegmentInfo; // generate gives all facts, later jobs some
  }
  const {restores} = edit;
  if (restores !== undefined) restoreSegments(segments, restores.segments);
  return {
    layout_version: layoutVersion,
    number: before.number + 1,
    parent: head === undefined ? null : {number: before.number, sha256: head.sha256},
    ...facts,
    open_version: before.open_version + (edit.opens ? 1 : 0),
    slots: sorted(nextSlots),
    segments: sorted(segments),
    policies: sorted({...(restores ?? before).policies, ...edit.policies}),
    summary: sorted({...(restores ?? before).summary, ...edit.summary}),
  };
}

/** Segments as they were, each with a version that it never had: whoever read one meanwhile has to plan anew. */
function restoreSegments(
  segments: Record<string, SegmentInfo>,
  restored: Readonly<Record<string, SegmentInfo>>,
): void {
  const now = {...segments};
  for (const id of Object.keys(segments)) if (restored[id] === undefined) delete segments[id];
  for (const [id, info] of Object.entries(restored))
    segments[id] = {...info, version: Math.max(info.version, now[id]?.version ?? 0) + 1};
}

function sorted<V>(record: Readonly<Record<string, V>>): Record<string, V> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
