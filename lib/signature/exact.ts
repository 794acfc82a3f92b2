import {hash} from 'node:crypto';

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
  if (lower === '') return null;
  // A UTF-16 unit takes at most three bytes.
  if (scratch.length < lower.length * 3) scratch = Buffer.allocUnsafeSlow(lower.length * 4);
  const bytes = scratch.subarray(0, scratch.write(lower, 0, 'utf8'));
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) bytes[at] = 32;
  return digest(bytes);
}

/** Made larger as texts need it: bytes of its own for each text took as long as their digest. */
let scratch = Buffer.allocUnsafeSlow(2 ** 17);

/** In one call of Node: an object for each digest takes as long as the digest of 15 KB. */
function digest(data: Uint8Array): Uint8Array {
  return hash('sha256', data, 'buffer').subarray(0, 16);
}
