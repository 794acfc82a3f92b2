/**
 * The one form in which rule and URL are compared: ASCII text, percent-encoded by one rule on both
 * sides, so that `/caf\xC3\xA9`, `/café` and `/caf%c3%a9` are equal (RFC 9309, 2.2.2).
 *
 * - Escapes of unreserved characters are decoded (`%7E` is `~`), all others have upper-case hex.
 * - What may not stand in a URI is escaped; so is a percent sign that begins no escape.
 * - `'` is escaped, since the WHATWG URL Standard writes it so in queries, and only there.
 * - `*` and `$` as characters of a path are `%2A` and `%24` (RFC 9309, 2.2.3), so in a pattern only
 *   the special ones are left as they are.
 *
 * Input is "octet text": a string in which each character is one byte (see {@link octetsOf}).
 */

const HEX = '0123456789ABCDEF';

/** What stays as it is: unreserved and reserved characters of RFC 3986 but `'`, `*` and `$`. */
const plain = new Uint8Array(256);
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!&()+,;=') {
  plain[c.charCodeAt(0)] = 1;
}
const allPlain = /^[A-Za-z0-9\-._~:/?#[\]@!&()+,;=]*$/;
const allPlainOrStar = /^[A-Za-z0-9\-._~:/?#[\]@!&()+,;=*]*$/;

const STAR = 42;
const DOLLAR = 36;
const PERCENT = 37;

/** Each character of the result is one byte of the text's UTF-8 form. */
export function octetsOf(text: string): string {
  return /^[\0-\x7F]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Octet text for people: read as UTF-8, wrong bytes as U+FFFD. */
export function textOf(octets: string): string {
  return /^[\0-\x7F]*$/.test(octets) ? octets : Buffer.from(octets, 'latin1').toString('utf8');
}

/** The comparable form of a path with query. */
export function comparablePath(octets: string): string {
  return allPlain.test(octets) ? octets : encode(octets, octets.length, false);
}

/** The comparable form of a rule's pattern without its anchor: each `*` left is a wildcard. */
export function comparablePattern(octets: string, end: number): string {
  const text = octets.slice(0, end);
  return allPlainOrStar.test(text) ? text : encode(text, end, true);
}

function encode(octets: string, end: number, isPattern: boolean): string {
  let out = '';
  let from = 0; // start of the run of characters that stay
  for (let i = 0; i < end; i++) {
    const c = octets.charCodeAt(i);
    if (plain[c] === 1 || (isPattern && c === STAR)) continue;
    out += octets.slice(from, i);
    const escaped = c === PERCENT && i + 2 < end ? hexPair(octets, i + 1) : -1;
    if (escaped < 0) {
      out += percentEncode(c);
    } else {
      out += isUnreserved(escaped) ? String.fromCharCode(escaped) : percentEncode(escaped);
      i += 2;
    }
    from = i + 1;
  }
  return out + octets.slice(from, end);
}

/** True where the pattern's last character is the anchor `$` (RFC 9309, 2.2.3). */
export function isAnchored(octets: string): boolean {
  return octets.charCodeAt(octets.length - 1) === DOLLAR;
}

function percentEncode(c: number): string {
  return '%' + HEX[(c >> 4) & 15] + HEX[c & 15];
}

function hexPair(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at));
  const low = hexDigit(text.charCodeAt(at + 1));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(c: number): number {
  if (c >= 48 && c <= 57) return c - 48;
  const letter = c | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function isUnreserved(c: number): boolean {
  const letter = c | 32;
  return (
    (letter >= 97 && letter <= 122 && c < 128) ||
    (c >= 48 && c <= 57) ||
    c === 45 ||
    c === 46 ||
    c === 95 ||
    c === 126
  );
}
