import * as zlib from 'node:zlib';
import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib';

export interface BodyLimits {
  /** Most of the decoded body, in bytes. */
  readonly maxBytes: number;
  /** Most that a coding may expand: decoded bytes for each byte received. */
  readonly maxRatio: number;
}

export interface Body {
  readonly bytes: Uint8Array;
  /** Something is missing at the end: the coding is broken or cut, or a limit was reached. */
  readonly truncated: boolean;
  /** For people: what could not be undone. */
  readonly errors: readonly string[];
}

/** Codings listed for one body, at most. Chosen: nobody means more than two; each one multiplies. */
const maxCodings = 4;

/** A ratio means nothing for a few bytes: this much is always allowed. */
const freeBytes = 64 * 1024;

/**
 * The body with its content codings undone: what a browser would get, or as much as can be read.
 *
 * Broken and truncated data gives what comes before the break; bytes behind the end of the last gzip member are
 * left out; a body that is not in the coding that its header claims is taken as it is.
 *
 * @param encoding Content-Encoding as received; several lines joined by a comma
 */
export function decodeBody(payload: Uint8Array, encoding: string | null, limits: BodyLimits): Body {
  const errors: string[] = [];
  let bytes = payload;
  let truncated = false;
  const codings = (encoding ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > maxCodings) {
    errors.push(`content coding: ${codings.length} codings, at most ${maxCodings} are undone`);
    return {bytes: payload.subarray(0, limits.maxBytes), truncated: true, errors};
  }
  for (const coding of codings.reverse()) {
    if (bytes.length === 0) break;
    const inflate = inflaters(coding, bytes);
    if (inflate === undefined) {
      // UTF-8, none, a type: people write what they like here. The body is then not encoded.
      if (/^(?:zstd|compress|x-compress|dcb|dcz)$/.test(coding)) {
        errors.push(`content coding: ${coding} is not supported`);
        return {bytes: new Uint8Array(0), truncated: true, errors};
      }
      continue;
    }
    const cap = Math.min(limits.maxBytes, Math.max(freeBytes, Math.floor(bytes.length * limits.maxRatio)));
    const undone = undo(inflate, bytes, cap);
    if (undone === undefined) {
      errors.push(`content coding: the body is not ${coding}; it was read as it is`);
      continue;
    }
    bytes = undone.bytes;
    truncated ||= undone.problem !== undefined;
    if (undone.problem !== undefined) errors.push(`content coding: ${coding} ${undone.problem}`);
  }
  if (bytes.length > limits.maxBytes) {
    errors.push(`body: cut to ${limits.maxBytes} bytes`);
    bytes = bytes.subarray(0, limits.maxBytes);
    truncated = true;
  }
  return {bytes, truncated, errors};
}

/** Undoes a coding at one go. `partial`: the end may be missing, what is there is given. */
type Inflate = (bytes: Uint8Array, maxBytes: number, partial: boolean) => Buffer;

/** The ways in which a coding may be meant, the likeliest first. */
function inflaters(coding: string, bytes: Uint8Array): readonly Inflate[] | undefined {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return [gunzip];
    case 'deflate':
      // RFC 9110 means zlib; some servers send a bare stream.
      return looksLikeZlib(bytes) ? [inflate, inflateRaw] : [inflateRaw, inflate];
    case 'br':
      return [unbrotli];
    case 'zstd':
      return typeof nodeZstd === 'function' ? [unzstd] : undefined;
    default:
      return undefined;
  }
}

function zlibOptions(bytes: Uint8Array, maxBytes: number, partial: boolean): ZlibOptions {
  return {
    maxOutputLength: Math.max(1, maxBytes),
    // Most pages fit in one piece, which is then not copied together: measured, 0.145 for 0.184 ms a page.
    chunkSize: Math.min(Math.max(4096, bytes.length * 6), 2 ** 18),
    finishFlush: partial ? constants.Z_SYNC_FLUSH : constants.Z_FINISH,
  };
}
const gunzip: Inflate = (bytes, max, partial) => gunzipSync(bytes, zlibOptions(bytes, max, partial));
const inflate: Inflate = (bytes, max, partial) => inflateSync(bytes, zlibOptions(bytes, max, partial));
const inflateRaw: Inflate = (bytes, max, partial) => inflateRawSync(bytes, zlibOptions(bytes, max, partial));
const unbrotli: Inflate = (bytes, max, partial) =>
  brotliDecompressSync(bytes, {
    maxOutputLength: Math.max(1, max),
    finishFlush: partial ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_FINISH,
  });

/** Node has zstd from 22.15 on; before, such a body is reported as not supported (we never ask for it). */
const nodeZstd: unknown = (zlib as {zstdDecompressSync?: unknown}).zstdDecompressSync;
const unzstd: Inflate = (bytes, max) =>
  (nodeZstd as (bytes: Uint8Array, options: object) => Buffer)(bytes, {maxOutputLength: Math.max(1, max)});

/** RFC 1950: method 8, and the header is a multiple of 31. */
function looksLikeZlib(bytes: Uint8Array): boolean {
  return bytes.length >= 2 && (bytes[0]! & 0x0f) === 8 && ((bytes[0]! << 8) | bytes[1]!) % 31 === 0;
}

function undo(
  ways: readonly Inflate[],
  bytes: Uint8Array,
  cap: number,
): {bytes: Uint8Array; problem?: string} | undefined {
  for (const way of ways) {
    try {
      return {bytes: way(bytes, cap, false)};
    } catch {
      // Broken, cut or too large: looked at below.
    }
  }
  let best: {bytes: Uint8Array; problem: string} | undefined;
  for (const way of ways) {
    const readable = longestReadable(way, bytes, cap);
    if (readable !== undefined && (best === undefined || readable.bytes.length > best.bytes.length))
      best = readable;
  }
  return best;
}

/**
 * What can be read of a stream that does not end well. Whether a beginning of it can be read is monotone in its
 * length, so the longest one is found by halving: at most 24 tries for 16 MiB, each bounded by the cap.
 */
function longestReadable(
  way: Inflate,
  bytes: Uint8Array,
  cap: number,
): {bytes: Uint8Array; problem: string} | undefined {
  let over = false;
  const attempt = (length: number): Buffer | undefined => {
    try {
      return way(bytes.subarray(0, length), cap, true);
    } catch (error) {
      over = error instanceof RangeError;
      return undefined;
    }
  };
  const whole = attempt(bytes.length);
  if (whole !== undefined) return {bytes: whole, problem: 'ends too early'};
  const problem = over ? `expands beyond ${cap} bytes` : 'is broken';
  let low = 0;
  let high = bytes.length;
  let found: Buffer | undefined;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    const result = attempt(middle);
    if (result === undefined) high = middle;
    else {
      low = middle;
      found = result;
    }
  }
  return found === undefined || found.length === 0 ? undefined : {bytes: found, problem};
}
