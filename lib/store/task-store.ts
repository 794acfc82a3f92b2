import {mkdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {Table} from '../schema/table.ts';
import {linkOrCopy, writeError} from './durable.ts';
import type {FileRef} from './manifest-types.ts';
import {createTableFile} from './parquet.ts';
import {attemptFileName, journalFolder, locate} from './place.ts';
import type {TableFile, TaskStore} from './store.ts';

/** Which attempt at which task writes: its files are named after it. Plain data, so that it can go to a worker. */
export interface AttemptName {
  readonly dir: string;
  readonly run: string;
  readonly stage: number;
  readonly part: number;
  readonly attempt: number;
}

/** The disk as a task's attempt sees it: inputs to read, files of its own to write. */
export class AttemptStore implements TaskStore {
  readonly #name: AttemptName;
  readonly #scratch: string;
  #files = 0;

  constructor(name: AttemptName) {
    this.#name = name;
    this.#scratch = join(name.dir, 'tmp', `${name.run}.${name.stage}.${name.part}.${name.attempt}`);
  }

  get dir(): string {
    return this.#name.dir;
  }

  path(file: FileRef): string {
    return locate(this.#name.dir, file.key);
  }

  async create<T extends Table>(table: T, place: string): Promise<TableFile<T>> {
    const {folder, name} = await this.#newName();
    return createTableFile(table, join(folder, name), {key: `${place}/${name}`});
  }

  async adopt(file: FileRef, path: string, place: string): Promise<FileRef> {
    const {folder, name} = await this.#newName();
    await linkOrCopy(path, join(folder, name));
    return {...file, key: `${place}/${name}`};
  }

  async #newName(): Promise<{folder: string; name: string}> {
    const {dir, run, stage, part, attempt} = this.#name;
    const name = attemptFileName(run, stage, part, attempt, this.#files++, '.parquet');
    const folder = join(dir, 'runs', run, 'files');
    try {
      await mkdir(folder, {recursive: true});
    } catch (error) {
      throw writeError(error, folder);
    }
    return {folder, name};
  }

  async scratch(): Promise<string> {
    await mkdir(this.#scratch, {recursive: true});
    return this.#scratch;
  }

  journalDir(segment: string): string {
    return journalFolder(this.#name.dir, segment);
  }

  /** Removes the scratch folder. */
  async close(): Promise<void> {
    await rm(this.#scratch, {recursive: true, force: true});
  }
}
