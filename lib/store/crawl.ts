import {existsSync} from 'node:fs';
import {mkdir, readdir} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {CrawlError, systemCode} from '../errors.ts';
import {type TableName, tables} from '../schema/tables.ts';
import {commit} from './commit.ts';
import {extractionFiles} from './extract-views.ts';
import {
  emptyManifest,
  manifestNumbers,
  type ReadManifest,
  readHighest,
  readList,
  readManifest,
} from './manifest.ts';
import type {FileList, FileRef, Manifest, SegmentInfo, Slot} from './manifest-types.ts';
import {finishPlacements, locate} from './place.ts';
import type {CommitRequest, CrawlStore, Snapshot} from './store.ts';

export const configName = 'crawl.yaml';
/** Folders of a crawl; `crawl init` makes them. */
const folders = ['manifests', 'lists', 'crawldb', 'linkdb', 'hosts', 'segments', 'runs', 'tmp'];

/** Opens the crawl in a folder. Throws CRAWL_NOT_FOUND where there is no crawl.yaml, MANIFEST_INVALID where tables lie without a manifest. */
export async function openCrawl(dir: string): Promise<CrawlStore> {
  const root = resolve(dir);
  if (!existsSync(join(root, configName)))
    throw new CrawlError('CRAWL_NOT_FOUND', `no crawl in ${root}: there is no ${configName}`, {
      facts: {dir: root},
    });
  if ((await manifestNumbers(root)).length === 0 && (await holdsTables(root)))
    throw new CrawlError('MANIFEST_INVALID', `${root} holds tables but no manifest that names them`, {
      facts: {dir: root},
      hint: 'Restore the folder manifests/ from a copy, or move crawldb/ and segments/ away to begin anew.',
    });
  return new LocalCrawl(root);
}

/** Makes the folders of a crawl, beside its crawl.yaml. */
export async function makeFolders(dir: string): Promise<void> {
  for (const name of folders) await mkdir(join(dir, name), {recursive: true});
}

async function holdsTables(root: string): Promise<boolean> {
  for (const name of ['crawldb', 'segments']) {
    try {
      if ((await readdir(join(root, name))).length > 0) return true;
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }
  return false;
}

class LocalCrawl implements CrawlStore {
  readonly dir: string;
  readonly #lists = new Map<string, FileList>();

  constructor(dir: string) {
    this.dir = dir;
  }

  async head(): Promise<Snapshot> {
    const read = await readHighest(this.dir);
    if (read !== undefined) await finishPlacements(this.dir, read.manifest.placements);
    return this.#snapshot(read);
  }

  async at(number: number): Promise<Snapshot> {
    const read = await readManifest(this.dir, number);
    if (read === undefined) {
      const kept = await manifestNumbers(this.dir);
      const gap = number > (kept[0] ?? 0) && number < (kept.at(-1) ?? 0);
      const range =
        kept.length === 0 ? 'none is kept' : `the oldest is ${kept[0]}, the newest ${kept.at(-1)}`;
      throw new CrawlError('MANIFEST_INVALID', `manifest ${number} is not there: ${range}`, {
        facts: {number},
        hint: gap ? 'It was removed by hand; choose another number.' : 'Choose a number within that range.',
      });
    }
    return this.#snapshot(read);
  }

  path(file: FileRef): string {
    return locate(this.dir, file.key);
  }

  async commit(request: CommitRequest): Promise<Snapshot> {
    return this.#snapshot(await commit(this, request));
  }

  #snapshot(read: ReadManifest | undefined): Snapshot {
    return new CrawlSnapshot(this, read?.manifest ?? emptyManifest, async (slot) => {
      const known = this.#lists.get(slot.ref);
      if (known !== undefined) return known;
      const list = await readList(this.dir, slot);
      this.#lists.set(slot.ref, list);
      return list;
    });
  }
}

class CrawlSnapshot implements Snapshot {
  readonly store: CrawlStore;
  readonly manifest: Manifest;
  readonly #readList: (slot: Slot) => Promise<FileList>;

  constructor(store: CrawlStore, manifest: Manifest, read: (slot: Slot) => Promise<FileList>) {
    this.store = store;
    this.manifest = manifest;
    this.#readList = read;
  }

  async files(slot: string): Promise<readonly FileRef[]> {
    const found = this.manifest.slots[slot];
    return found === undefined ? [] : (await this.#readList(found)).files;
  }

  async tableFiles(
    table: TableName,
    segments: readonly string[] = this.segments,
  ): Promise<readonly FileRef[]> {
    if (table === 'extractions') return extractionFiles(this, 'current', segments);
    if (!isSegmentTable(table))
      return (await this.files(slotOf(table))).filter((file) => file.table === table);
    const files: FileRef[] = [];
    for (const id of segments) {
      const current = this.segment(id).current;
      if (table !== 'parse' && table !== 'outlinks')
        files.push(...(await this.files(`segments/${id}/${table}`)));
      else if (current !== undefined) files.push(...(await this.files(`segments/${id}/${table}/${current}`)));
    }
    return files;
  }

  segment(id: string): SegmentInfo {
    const info = this.manifest.segments[id];
    if (info === undefined)
      throw new CrawlError('SEGMENT_UNKNOWN', `no segment ${id}`, {facts: {segment: id}});
    return info;
  }

  get segments(): readonly string[] {
    return Object.keys(this.manifest.segments).sort();
  }
}

/** The slot of a table of the whole crawl: its own, but for what belongs to the linkdb. */
function slotOf(table: TableName): string {
  return table === 'linksources' ? 'linkdb' : table;
}

/** Tables with a part in each segment: those whose rows carry the segment first. */
function isSegmentTable(table: TableName): boolean {
  return Object.keys(tables[table].columns)[0] === 'segment';
}
