import {hammingDistance} from '../signature/simhash.ts';
import type {Visit} from './schedule.ts';

/** What is kept of a content to tell whether the next one differs. */
export interface ContentMarks {
  readonly signature: Uint8Array | null;
  readonly text_signature: Uint8Array | null;
  readonly simhash: bigint | null;
  /** Of the payload as received. */
  readonly content_digest: string | null;
}

/**
 * Has a page changed, for its schedule? Equal bytes are no change; different bytes of equal text are none either (a
 * clock, an advertisement, a token in the markup); texts that differ in less than `minBits` of their fingerprints
 * are not (a counter in a long text). Where there is no text on one side the bytes decide; where not even their
 * signature is known, equal payloads are equal, and unequal ones may be coded differently only.
 */
export function evidenceOf(before: ContentMarks, now: ContentMarks, minBits: number): Visit['change'] {
  if (before.signature === null || now.signature === null)
    return before.content_digest !== null && before.content_digest === now.content_digest
      ? 'unmodified'
      : 'unknown';
  if (equal(before.signature, now.signature)) return 'unmodified';
  if (before.text_signature === null || now.text_signature === null) return 'modified';
  if (equal(before.text_signature, now.text_signature)) return 'unmodified';
  if (before.simhash === null || now.simhash === null) return 'modified';
  return hammingDistance(before.simhash, now.simhash) >= minBits ? 'modified' : 'unmodified';
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
