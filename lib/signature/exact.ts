import {createHash} from 'node:crypto';

/**
 * Signature of a content-decoded body: pages of equal bytes share it, however they were sent.
 * First 16 bytes of SHA-256. Nutch: MD5Signature.
 */
export function bodySignature(body: Uint8Array): Uint8Array {
  return digest(body);
}

/**
 * Signature of a text, line breaks and letter case aside: pages that show the same words share it, whatever their
 * markup. Null without text. Nutch: TextMD5Signature.
 *
 * @param lower the text in lower case, its white space folded to single spaces and line breaks
 */
export function textSignature(lower: string): Uint8Array | null {
  return lower === '' ? null : digest(lower.replaceAll('\n', ' '));
}

function digest(data: Uint8Array | string): Uint8Array {
  return createHash('sha256').update(data).digest().subarray(0, 16);
}
