/**
 * What a fetch has to do: the URLs of its fetchlist, and the requests that turn up on the way (hops, robots.txt).
 *
 * Items are small integers, as the queues want them. URLs of the fetchlist are kept as bytes and columns, about
 * 30 bytes and the URL each; requests that turn up are objects, and few at a time.
 */
import type {FetchlistRow} from '../schema/fetchlist.ts';
import {KeyMap} from './key-map.ts';

/** One thing to ask for. */
export interface WorkItem {
  readonly kind: 'page' | 'sitemap' | 'hop' | 'robots' | 'probe';
  readonly url: string;
  readonly urlKey: bigint;
  /** 0 for the first request, 1 and up along redirects. */
  readonly hop: number;
  /** The fetchlist URL that led here. */
  readonly originUrl: string;
  readonly depth: number;
  readonly seed: string | null;
  /** What is held of it, for a conditional request and for the row of a 304. */
  readonly held: Held | null;
  /** URLs asked on the way here, in order; empty for the first request. */
  readonly chain: readonly string[];
  /** What is wanted in the end is a sitemap, which may be longer than a page. */
  readonly sitemap: boolean;
  /** For robots.txt: the origin it is asked for. */
  readonly robotsOrigin: string | null;
}

export interface Held {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly contentDigest: string | null;
  readonly contentSegment: string | null;
}

const chunkBytes = 1 << 20; // chosen: larger than any URL by far, small beside a long list
const noChain: readonly string[] = [];

export class Worklist {
  readonly #chunks: Buffer[] = [];
  #chunkUsed = chunkBytes;
  #count = 0;
  #start = new Float64Array(1024);
  #length = new Int32Array(1024);
  #keys = new BigUint64Array(1024);
  #depth = new Int32Array(1024);
  #seed = new Int32Array(1024);
  #sitemap = new Uint8Array(1024);
  readonly #seeds: string[] = [];
  readonly #seedIndex = new Map<string, number>();
  readonly #held = new Map<number, Held>();
  readonly #extra = new Map<number, WorkItem>();
  readonly #byKey = new KeyMap();
  #listed = 0;
  #done = new Uint8Array(128);
  #doneCount = 0;

  /** URLs of the fetchlist. */
  get listed(): number {
    return this.#listed;
  }
  /** Those of them that have their outcome. */
  get done(): number {
    return this.#doneCount;
  }

  /** Adds a URL of the fetchlist. All of them come before the first `addExtra`. */
  add(row: FetchlistRow): number {
    const item = this.#count++;
    this.#listed++;
    this.#reserve();
    const bytes = Buffer.byteLength(row.url);
    if (this.#chunkUsed + bytes > chunkBytes) {
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(chunkBytes, bytes)));
      this.#chunkUsed = 0;
    }
    const chunk = this.#chunks.length - 1;
    this.#chunks[chunk]!.write(row.url, this.#chunkUsed);
    this.#start[item] = chunk * chunkBytes + this.#chunkUsed;
    this.#length[item] = bytes;
    this.#chunkUsed += bytes;
    this.#keys[item] = row.url_key;
    this.#depth[item] = row.depth;
    this.#seed[item] = this.#intern(row.seed);
    this.#sitemap[item] = row.kind === 'sitemap' ? 1 : 0;
    if (row.etag !== null || row.last_modified !== null || row.content_digest !== null)
      this.#held.set(item, {
        etag: row.etag,
        lastModified: row.last_modified,
        contentDigest: row.content_digest,
        contentSegment: row.content_segment,
      });
    if (this.#byKey.get(row.url_key) === undefined) this.#byKey.set(row.url_key, item);
    return item;
  }

  /** Adds a request that turned up. A hop is found by its key from then on; robots.txt is not. */
  addExtra(item: WorkItem): number {
    const index = this.#count++;
    this.#extra.set(index, item);
    if (item.kind === 'hop') this.#byKey.set(item.urlKey, index);
    return index;
  }

  /** Makes the key of a request known that was made before the fetch was taken up again. */
  know(urlKey: bigint): void {
    if (this.#byKey.get(urlKey) === undefined) this.#byKey.set(urlKey, this.#count++);
  }

  /** Forgets the object of a request that turned up; its key stays known. */
  forget(item: number): void {
    this.#extra.delete(item);
  }

  /** The item that asks for the URL with this key, or undefined. */
  find(urlKey: bigint): number | undefined {
    return this.#byKey.get(urlKey);
  }

  isListed(item: number): boolean {
    return item < this.#listed;
  }

  isDone(item: number): boolean {
    return ((this.#done[item >> 3] ?? 0) & (1 << (item & 7))) !== 0;
  }

  /** Records that a URL of the fetchlist has its outcome. False: it had one already. */
  markDone(item: number): boolean {
    if (this.isDone(item)) return false;
    this.#done[item >> 3]! |= 1 << (item & 7);
    this.#doneCount++;
    return true;
  }

  urlOf(item: number): string {
    const extra = this.#extra.get(item);
    if (extra) return extra.url;
    const start = this.#start[item]!;
    const offset = start % chunkBytes;
    return this.#chunks[Math.floor(start / chunkBytes)]!.toString(
      'utf8',
      offset,
      offset + this.#length[item]!,
    );
  }

  get(item: number): WorkItem {
    const extra = this.#extra.get(item);
    if (extra) return extra;
    const url = this.urlOf(item);
    const seed = this.#seed[item]!;
    const sitemap = this.#sitemap[item] === 1;
    return {
      kind: sitemap ? 'sitemap' : 'page',
      url,
      urlKey: this.#keys[item]!,
      hop: 0,
      originUrl: url,
      depth: this.#depth[item]!,
      seed: seed < 0 ? null : this.#seeds[seed]!,
      held: this.#held.get(item) ?? null,
      chain: noChain,
      sitemap,
      robotsOrigin: null,
    };
  }

  #intern(seed: string | null): number {
    if (seed === null) return -1;
    let index = this.#seedIndex.get(seed);
    if (index === undefined) {
      index = this.#seeds.push(seed) - 1;
      this.#seedIndex.set(seed, index);
    }
    return index;
  }

  #reserve(): void {
    const size = this.#start.length;
    if (this.#count <= size) return;
    this.#start = grown(this.#start, new Float64Array(size * 2));
    this.#length = grown(this.#length, new Int32Array(size * 2));
    this.#keys = grown(this.#keys, new BigUint64Array(size * 2));
    this.#depth = grown(this.#depth, new Int32Array(size * 2));
    this.#seed = grown(this.#seed, new Int32Array(size * 2));
    this.#sitemap = grown(this.#sitemap, new Uint8Array(size * 2));
    this.#done = grown(this.#done, new Uint8Array(size / 4));
  }
}

function grown<A extends {set(values: A): void}>(old: A, larger: A): A {
  larger.set(old);
  return larger;
}
