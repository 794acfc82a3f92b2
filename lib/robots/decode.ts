/**
 * Bytes of a robots.txt as octet text: a string in which each character is one byte, so that no byte
 * is lost or changed, whatever the encoding of the file was meant to be.
 *
 * RFC 9309 asks for UTF-8. UTF-16 files exist (Windows Notepad writes them); they are turned into
 * UTF-8, with a byte order mark or where the first four bytes show ASCII between zeros. Elsewhere NUL
 * bytes are dropped.
 */
export interface DecodedRobots {
  readonly octets: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be';
  /** True: there was more than `maxBytes`. The line that was cut is not in `octets`. */
  readonly truncated: boolean;
}

export function decodeRobots(bytes: Uint8Array, maxBytes: number): DecodedRobots {
  const truncated = bytes.length > maxBytes;
  const kept = Buffer.from(bytes.buffer, bytes.byteOffset, truncated ? maxBytes : bytes.length);
  const encoding = encodingOf(kept);
  let octets = toOctets(kept, encoding);
  if (octets.startsWith('\xEF\xBB\xBF')) octets = octets.slice(3);
  if (octets.includes('\0')) octets = octets.replaceAll('\0', '');
  // Half a rule is another rule: "Disallow: /" where "Disallow: /private" was cut.
  if (truncated) octets = octets.slice(0, Math.max(octets.lastIndexOf('\n'), octets.lastIndexOf('\r')) + 1);
  return {octets, encoding, truncated};
}

function encodingOf(b: Buffer): DecodedRobots['encoding'] {
  if (b[0] === 0xff && b[1] === 0xfe) return 'utf-16le';
  if (b[0] === 0xfe && b[1] === 0xff) return 'utf-16be';
  if (isText(b[0]) && b[1] === 0 && isText(b[2]) && b[3] === 0) return 'utf-16le';
  if (b[0] === 0 && isText(b[1]) && b[2] === 0 && isText(b[3])) return 'utf-16be';
  return 'utf-8';
}

function isText(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 32 && byte < 127) || (byte >= 9 && byte <= 13));
}

function toOctets(b: Buffer, encoding: DecodedRobots['encoding']): string {
  if (encoding === 'utf-8') return b.toString('latin1');
  const whole = b.subarray(0, b.length - (b.length % 2));
  const little = encoding === 'utf-16le' ? whole : Buffer.from(whole).swap16();
  return Buffer.from(little.toString('utf16le'), 'utf8').toString('latin1');
}
