import {join} from 'node:path';
import {CrawlError} from '../errors.ts';
import {crashPoint} from './crash-points.ts';
import {createIfAbsent, replaceFile} from './durable.ts';
import {
  conflicts,
  manifestFolder,
  manifestName,
  manifestNumbers,
  nextManifest,
  type ReadManifest,
  readHighest,
  readList,
  readManifest,
  sha256,
} from './manifest.ts';
import type {Edit, FileRef, Manifest, Slot} from './manifest-types.ts';
import {finishPlacements, stagedKey} from './place.ts';
import type {CommitRequest, CrawlStore} from './store.ts';

/**
 * Makes an edit the present, or throws: lists are written, then the next manifest by create-if-absent, then the
 * files are moved to their places. Lost the race: the edit is rebased if all that it read and writes is unchanged.
 * Nothing of an edit can be seen before its manifest is there, and everything after.
 */
export async function commit(store: CrawlStore, request: CommitRequest): Promise<ReadManifest> {
  const {edit, run, job} = request;
  for (;;) {
    const head = await readHighest(store.dir);
    if (head !== undefined) await finishPlacements(store.dir, head.manifest.placements);
    const changed = conflicts(request.base.manifest, head?.manifest ?? request.base.manifest, edit);
    if (changed.length > 0) throw new CommitRefused(changed);
    const {slots, placements} = await writeLists(store.dir, head?.manifest, edit);
    crashPoint('lists_written');
    const manifest = nextManifest(head, edit, slots, {
      run,
      job,
      created_time: new Date(request.now).toISOString(),
      placements,
    });
    const text = `${JSON.stringify(manifest, null, 1)}\n`;
    const path = join(store.dir, manifestFolder, manifestName(manifest.number));
    if (!(await createIfAbsent(path, text)) && !(await isOurs(store.dir, manifest))) continue;
    if (!(await isInChain(store.dir, manifest.number, sha256(text)))) throw new CommitRefused(['manifests']);
    crashPoint('manifest_created');
    await finishPlacements(store.dir, placements);
    crashPoint('files_placed');
    return {manifest, sha256: sha256(text)};
  }
}

/** The edit depends on something that another commit changed: the job must be planned anew. */
export class CommitRefused extends CrawlError {
  constructor(changed: readonly string[]) {
    super('COMMIT_CONFLICT', `changed by another command meanwhile: ${changed.join(', ')}`, {
      facts: {changed},
    });
  }
}

/** Whether the manifest of that number is the one that this very run wrote, its reply having been lost. */
async function isOurs(dir: string, manifest: Manifest): Promise<boolean> {
  const there = await readManifest(dir, manifest.number);
  return there !== undefined && there.manifest.run === manifest.run && manifest.run !== '';
}

/**
 * Whether a manifest just created counts: it is the highest, or the next one names it as parent. A process that
 * slept while retention removed its base would otherwise create a number that is long past.
 */
async function isInChain(dir: string, number: number, hash: string): Promise<boolean> {
  const numbers = await manifestNumbers(dir);
  if (numbers.at(-1) === number) return true;
  const next = await readManifest(dir, number + 1);
  return next?.manifest.parent?.sha256 === hash;
}

interface WrittenLists {
  readonly slots: Readonly<Record<string, Slot | null>>;
  readonly placements: Manifest['placements'];
}

async function writeLists(dir: string, head: Manifest | undefined, edit: Edit): Promise<WrittenLists> {
  const slots: Record<string, Slot | null> = {};
  const placements: {from: string; to: string}[] = [];
  const put = async (name: string, files: readonly FileRef[] | null): Promise<void> => {
    const slot = head?.slots[name];
    const before = slot === undefined ? [] : (await readList(dir, slot)).files;
    placements.push(...moves(name, before, files ?? []));
    slots[name] = files === null ? null : await writeList(dir, name, (slot?.version ?? 0) + 1, files);
  };
  for (const [name, files] of Object.entries(edit.writes)) await put(name, files);
  for (const [name, files] of Object.entries(edit.appends ?? {})) {
    const slot = head?.slots[name];
    const before = slot === undefined ? [] : (await readList(dir, slot)).files;
    await put(name, [...before, ...files]);
  }
  for (const [id, info] of Object.entries(edit.segments ?? {})) {
    if (info !== null) continue;
    for (const name of Object.keys(head?.slots ?? {}))
      if (name.startsWith(`segments/${id}/`)) await put(name, null);
  }
  return {slots, placements};
}

/**
 * New files go to their place. Files of a segment that are named no more go back to where they were written, so that
 * the parts of a segment hold only what the present manifest names, and older manifests still find them.
 */
function moves(
  slot: string,
  before: readonly FileRef[],
  after: readonly FileRef[],
): {from: string; to: string}[] {
  const old = new Set(before.map((file) => file.key));
  const kept = new Set(after.map((file) => file.key));
  const placed = after.filter((file) => !old.has(file.key)).map(({key}) => ({from: stagedKey(key), to: key}));
  if (!slot.startsWith('segments/')) return placed;
  return [
    ...placed,
    ...before.filter((file) => !kept.has(file.key)).map(({key}) => ({from: key, to: stagedKey(key)})),
  ];
}

async function writeList(
  dir: string,
  name: string,
  version: number,
  files: readonly FileRef[],
): Promise<Slot> {
  const text = `${JSON.stringify({files}, null, 1)}\n`;
  const hash = sha256(text);
  const ref = `lists/${name.replaceAll('/', '.')}.${version}.${hash.slice(0, 16)}.json`;
  await createIfAbsent(join(dir, ref), text); // named by its content, so it does not matter who wrote it
  return {
    version,
    ref,
    sha256: hash,
    files: files.length,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  };
}

/** Writes views.sql for the present, unless another commit has made a newer one. */
export async function writeViews(dir: string, number: number, text: string): Promise<void> {
  if ((await manifestNumbers(dir)).at(-1) === number) await replaceFile(join(dir, 'views.sql'), text);
}
