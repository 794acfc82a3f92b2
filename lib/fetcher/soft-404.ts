/**
 * Soft 404s: answers of status 200 that mean "not found". Pure.
 *
 * A host that answers a random path with 200 says so to everything it does not know; pages that say the same are
 * soft 404s. Compared is the text without what differs from request to request: markup, digits, and the path itself,
 * which such pages like to repeat.
 */
import {createHash} from 'node:crypto';
import type {Config} from '../config/settings.ts';
import {decodeBody} from '../parse/body.ts';

/** What a host said to a random path. */
export interface Soft404 {
  /** When it was asked; ms since the epoch. */
  readonly askedAt: number;
  /** Of its answer; null where it said "not found" as it should, or nothing that could be compared. */
  readonly signature: string | null;
}

/** Chosen: how a host says "not found" changes with its software, and each look costs it a request. */
const weekMs = 7 * 86_400_000;
/** Chosen: error pages are short, and what is longer differs within this much. */
const readBytes = 128 * 1024;
/** Chosen: less text is no page that could be told from another. */
const leastText = 20;

/** Has the host to be asked for a random path? */
export function isProbeDue(known: Soft404 | null, now: number, {soft_404}: Config['fetch']): boolean {
  return soft_404 && (known === null || now - known.askedAt >= weekMs);
}

/** A path that no host has: by segment and origin, so that a fetch which goes on asks for the same. */
export function probePath(segment: string, origin: string): string {
  return `/${createHash('sha256').update(`${segment} ${origin}`).digest('hex').slice(0, 24)}`;
}

/**
 * Signature of an answer's text; null where there is too little of it.
 * @param payload as received
 */
export function soft404Signature(
  payload: Uint8Array,
  contentEncoding: string | null,
  url: string,
): string | null {
  const {bytes} = decodeBody(payload, contentEncoding, {maxBytes: readBytes, maxRatio: 1000});
  const path = new URL(url).pathname;
  const name = path.slice(path.lastIndexOf('/') + 1);
  let text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, readBytes)).toString(
    'latin1',
  );
  for (const told of [url, path, name]) if (told.length > 1) text = text.replaceAll(told, '');
  text = text
    .replace(/<[^>]*>?/g, ' ')
    .replace(/\d+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length < leastText ? null : createHash('sha256').update(text).digest('hex').slice(0, 16);
}
