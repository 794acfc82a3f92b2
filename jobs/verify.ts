import type {Effects, Progress} from '../lib/effects.ts';
import {CrawlError} from '../lib/errors.ts';
import {readChain} from '../lib/store/manifest.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {fileDigest, fileSize} from '../lib/store/table-io.ts';
import {readSnapshot} from './read/crawl.ts';

/** Something that is not as it was written. */
export type Finding = {
  /** Path in the crawl folder. */
  readonly file: string;
  readonly finding: 'missing' | 'size' | 'content' | 'unreadable' | 'list' | 'manifest';
  readonly detail: string;
};

export interface Verified {
  readonly manifest: number;
  /** Files that were looked at, and their size by the manifest. */
  readonly files: number;
  readonly bytes: number;
  readonly findings: readonly Finding[];
}

export interface VerifySettings {
  readonly dir: string;
  /** Number of the manifest; the newest if absent. */
  readonly asOf?: number | undefined;
  /** Only files of these segments; all of the crawl if empty. */
  readonly segments: readonly string[];
  /** Sizes alone, without reading the files. */
  readonly quick: boolean;
  readonly effects: Pick<Effects, 'signal'>;
  readonly progress: (point: Progress) => void;
}

/**
 * Compares every file that a manifest names with the size and SHA-256 that its writer noted, and the manifests with the
 * hashes by which they name each other. Reads only, takes no lock, and goes on after a finding.
 */
export async function verifyCrawl(settings: VerifySettings): Promise<Verified> {
  const {dir, asOf, segments, quick, effects, progress} = settings;
  const snapshot = await readSnapshot(dir, asOf, segments);
  const findings: Finding[] = segments.length > 0 ? [] : (await readChain(dir)).map(brokenLink);
  const files: FileRef[] = [];
  for (const [name, slot] of Object.entries(snapshot.manifest.slots)) {
    if (segments.length > 0 && !segments.some((id) => name.startsWith(`segments/${id}/`))) continue;
    try {
      files.push(...(await snapshot.files(name)));
    } catch (error) {
      findings.push({file: slot.ref, finding: 'list', detail: wordsOf(error)});
    }
  }
  const total = files.reduce((sum, {bytes}) => sum + bytes, 0);
  let done = 0;
  for (const file of files) {
    effects.signal.throwIfAborted();
    const finding = await compare(snapshot.store.path(file), file, quick);
    if (finding !== undefined) findings.push({file: file.key, ...finding});
    done += file.bytes;
    progress({done: Math.round(done / 1e6), total: Math.round(total / 1e6), unit: 'MB'});
  }
  return {manifest: snapshot.manifest.number, files: files.length, bytes: total, findings};
}

function brokenLink({path, why}: {readonly path: string; readonly why: string}): Finding {
  return {file: path, finding: 'manifest', detail: why};
}

async function compare(
  path: string,
  file: FileRef,
  quick: boolean,
): Promise<Omit<Finding, 'file'> | undefined> {
  try {
    const bytes = await fileSize(path);
    if (bytes !== file.bytes) return {finding: 'size', detail: `${bytes} bytes, ${file.bytes} were written`};
    if (quick || (await fileDigest(path)).sha256 === file.sha256) return undefined;
    return {
      finding: 'content',
      detail: `its SHA-256 is not the ${file.sha256.slice(0, 16)}… that was written`,
    };
  } catch (error) {
    const missing = error instanceof CrawlError && error.code === 'FILE_MISSING';
    return missing
      ? {finding: 'missing', detail: `${file.rows} rows of ${file.table}`}
      : {finding: 'unreadable', detail: wordsOf(error)};
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
