/**
 * The one form of percent-encoding, for the path and the query of a URL that the WHATWG parser has been over.
 *
 * - An escape of an unreserved character is that character: `%7E` is `~`.
 * - All other escapes stay, with upper-case hex digits: `%2f` is `%2F`, never `/`.
 * - A `%` that begins no escape is `%25`.
 * - A character that the grammar does not allow is escaped: `[ ] | ^ { } \ ` and the like.
 *
 * Nothing else is decoded, since a reserved character and its escape may mean different things to a server.
 * @see RFC 3986, sections 2.1 to 2.4, 3.3, 3.4 and 6.2.2; Nutch's BasicURLNormalizer does the same
 */

/** What a character is in a path or query. */
export const charKind = {
  /** Not allowed: to be escaped. */
  bad: 0,
  unreserved: 1,
  /** Allowed as it is, and not the same as its escape: sub-delims, `:`, `@`, `/`. */
  reserved: 2,
  percent: 3,
} as const;

/** Kind of each code unit below 128, by {@link charKind}. */
export const charKinds: Uint8Array = (() => {
  const kinds = new Uint8Array(128);
  const fill = (chars: string, kind: number) => {
    for (const c of chars) kinds[c.charCodeAt(0)] = kind;
  };
  fill('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~', charKind.unreserved);
  fill("!$&'()*+,;=:@/", charKind.reserved);
  fill('%', charKind.percent);
  return kinds;
})();

/** Value of a hex digit's code unit, or -1. */
export function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 65 && code <= 70) return code - 55;
  if (code >= 97 && code <= 102) return code - 87;
  return -1;
}

const upperHex = '0123456789ABCDEF';
const escapeByte = (byte: number) => `%${upperHex[byte >> 4]}${upperHex[byte & 15]}`;
const needsWork = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/]/;

/** The part in its one form. Allowed besides the grammar of a path: `?`, where `query` is set. */
export function normalizePercent(part: string, query: boolean): string {
  if (!needsWork.test(part)) return part;
  let out = '';
  let from = 0;
  for (let i = 0; i < part.length; i++) {
    const code = part.charCodeAt(i);
    let replacement: string;
    let width = 1;
    if (code === 37) {
      const high = hexValue(part.charCodeAt(i + 1));
      const low = high < 0 ? -1 : hexValue(part.charCodeAt(i + 2));
      if (low < 0) replacement = '%25';
      else {
        const byte = high * 16 + low;
        width = 3;
        replacement =
          byte < 128 && charKinds[byte] === charKind.unreserved
            ? String.fromCharCode(byte)
            : escapeByte(byte);
      }
    } else if (code < 128 ? charKinds[code] !== charKind.bad || (query && code === 63) : true) {
      continue; // above 127 the parser has left nothing
    } else replacement = escapeByte(code);
    out += part.slice(from, i) + replacement;
    i += width - 1;
    from = i + 1;
  }
  return out + part.slice(from);
}
