import {createHash} from 'node:crypto';

/**
 * Signature of a content-decoded body: pages of equal bytes share it, however they were sent.
 * First 16 bytes of SHA-256. Nutch: MD5Signature.
 */
export function bodySignature(body: Uint8Array): Uint8Array {
  return digest(body);
}

/**
 * Signature of a text, white space and letter case aside: pages that show the same words share it, whatever their
 * markup. Null without text. Nutch: TextMD5Signature.
 */
export function textSignature(text: string): Uint8Array | null {
  const normalized = text.toLowerCase().trim().replace(/\s+/g, ' ');
  return normalized === '' ? null : digest(normalized);
}

function digest(data: Uint8Array | string): Uint8Array {
  return createHash('sha256').update(data).digest().subarray(0, 16);
}
