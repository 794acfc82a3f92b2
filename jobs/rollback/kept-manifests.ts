import {manifestNumbers, readManifest} from '../../lib/store/manifest.ts';

/** A manifest that is kept: what `crawl rollback` and `--as-of` can go back to. */
export type KeptManifest = {
  readonly manifest: number;
  readonly created_time: string;
  /** Job that made it. */
  readonly job: string;
  readonly urls: number;
  readonly segments: number;
};

/** All of them, newest first. One that retention removes meanwhile is passed over. */
export async function keptManifests(dir: string): Promise<KeptManifest[]> {
  const list: KeptManifest[] = [];
  for (const number of (await manifestNumbers(dir)).reverse()) {
    const read = await readManifest(dir, number);
    if (read === undefined) continue;
    const {created_time, job, summary, segments} = read.manifest;
    list.push({
      manifest: number,
      created_time,
      job,
      urls: summary.urls ?? 0,
      segments: Object.keys(segments).length,
    });
  }
  return list;
}
