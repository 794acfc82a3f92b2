import {Gunzip} from 'fflate';

/**
 * Gunzips as far as it goes: what came before damage, a cut or the limit is kept. Several members are
 * read as one, and a gz inside a gz is opened too (a .gz file served with Content-Encoding and unpacked once).
 *
 * In memory: the output, and at most 1,032 times {@link sliceBytes} more before the limit is noticed.
 */
export interface Unpacked {
  readonly bytes: Uint8Array;
  /** Gzip layers that were opened. */
  readonly layers: number;
  /** True: there is more than `maxBytes`. */
  readonly truncated: boolean;
  /** What was wrong with the packing; null if nothing. */
  readonly problem: string | null;
}

/** Small slices, so that little is lost before a damaged place. */
const sliceBytes = 4096;
const maxLayers = 2;

export function unpack(bytes: Uint8Array, maxBytes: number): Unpacked {
  let current: Unpacked = {bytes, layers: 0, truncated: false, problem: null};
  while (current.layers < maxLayers && isGzip(current.bytes)) {
    const inner = gunzip(current.bytes, maxBytes);
    current = {
      bytes: inner.bytes,
      layers: current.layers + 1,
      truncated: current.truncated || inner.truncated,
      problem: current.problem ?? inner.problem,
    };
  }
  if (current.bytes.length <= maxBytes) return current;
  return {...current, bytes: current.bytes.subarray(0, maxBytes), truncated: true};
}

export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8;
}

function gunzip(
  bytes: Uint8Array,
  maxBytes: number,
): {bytes: Uint8Array; truncated: boolean; problem: string | null} {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const stream = new Gunzip((chunk) => {
    if (size <= maxBytes) chunks.push(chunk);
    size += chunk.length;
  });
  let problem: string | null = null;
  try {
    for (let at = 0; at < bytes.length && size <= maxBytes; at += sliceBytes) {
      stream.push(bytes.subarray(at, at + sliceBytes), false);
    }
    if (size <= maxBytes) stream.push(new Uint8Array(0), true);
  } catch (error) {
    // Zeros or other bytes behind a whole member are common and harmless; still worth a word.
    problem = error instanceof Error ? error.message : String(error);
  }
  return {bytes: Buffer.concat(chunks), truncated: size > maxBytes, problem};
}
