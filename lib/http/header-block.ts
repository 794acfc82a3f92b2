/**
 * Reads the header block of a response as browsers do: strictly where the framing of the message depends on it,
 * leniently elsewhere (RFC 9112 sections 2.2, 4, 5.1 and 5.2; Chromium's HttpResponseHeaders). Each liberty
 * taken is named, so that a capture can say what was odd about it. Pure.
 */
export interface HeaderBlock {
  readonly version: '1.0' | '1.1';
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** What a strict parser would have refused. */
  readonly repairs: readonly Repair[];
}

export type Repair =
  | 'leading empty line'
  | 'bare LF'
  | 'bare CR'
  | 'folded header'
  | 'space before colon'
  | 'line without colon'
  | 'odd status line'
  | 'ICY';

/**
 * Offset behind the empty line that ends a header block, or -1 if it is not there yet. An LF alone ends a line.
 *
 * @param from where to begin; at most 2 before the first new byte, so that an end across a cut is found
 */
export function endOfHeader(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(10, from);
  while (at >= 0 && at + 1 < bytes.length) {
    if (bytes[at + 1] === 10) return at + 2;
    if (bytes[at + 1] === 13 && at + 2 < bytes.length && bytes[at + 2] === 10) return at + 3;
    at = bytes.indexOf(10, at + 1);
  }
  return -1;
}

/** How many bytes of empty lines stand before the status line; 16 at most, what follows is not HTTP then. */
export function leadingEmptyLines(bytes: Uint8Array): number {
  let at = 0;
  while (at < 16 && (bytes[at] === 10 || (bytes[at] === 13 && (bytes[at + 1] ?? 10) === 10))) at += 1;
  return at;
}

/** Could these first bytes become a status line? False as early as it is certain, so that nobody waits for an end. */
export function mayBeStatusLine(bytes: Uint8Array): boolean {
  return ['HTTP/', 'ICY '].some((start) => {
    for (let i = 0; i < start.length && i < bytes.length; i += 1) {
      if ((bytes[i]! & 0xdf) !== (start.charCodeAt(i) & 0xdf)) return false;
    }
    return true;
  });
}

const strictBlock =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [^\r\n\0]*)?\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*\r\n)*\r\n$/;
/** Versions above 1.1 are sent as text by misconfigured servers, and mean 1.1; 0.9 means 1.0. */
const statusLine = /^(?:HTTP\/(0\.9|1\.\d|[23](?:\.\d)?)|(ICY))[ \t]+(\d{3})(?!\d)[ \t]?(.*)$/i;

/**
 * @param text the block from its first byte to the empty line's end, decoded as latin1
 * @returns the block, or in words why it is none
 */
export function readHeaderBlock(text: string): HeaderBlock | string {
  return strictBlock.test(text) ? readStrict(text) : readLenient(text);
}

/** The plain case, of a block that `strictBlock` describes. */
function readStrict(text: string): HeaderBlock {
  let end = text.indexOf('\r\n');
  const headers: [string, string][] = [];
  const block: HeaderBlock = {
    version: text.charCodeAt(7) === 48 ? '1.0' : '1.1',
    status: Number(text.slice(9, 12)),
    statusText: text.slice(13, Math.max(13, end)),
    headers,
    repairs: [],
  };
  for (let start = end + 2; start < text.length - 2; start = end + 2) {
    const colon = text.indexOf(':', start);
    end = text.indexOf('\r\n', colon);
    headers.push([text.slice(start, colon), trim(text.slice(colon + 1, end))]);
  }
  return block;
}

/** Whatever may be taken for a header block. Exported for the test that compares it with the strict reading. */
export function readLenient(text: string): HeaderBlock | string {
  if (text.includes('\0')) return 'a NUL byte in the header';
  const repairs = new Set<Repair>();
  const lines = text.replace(/^[\r\n]+/, () => {
    repairs.add('leading empty line');
    return '';
  });
  if (/(?<!\r)\n/.test(lines)) repairs.add('bare LF');
  const [first = '', ...rest] = lines
    .replace(/\r*\n\r?\n$/, '')
    .split('\n')
    .map((line) => replaceBareCr(line.replace(/\r$/, ''), repairs));
  const match = statusLine.exec(first);
  if (match === null) return `not a status line: ${JSON.stringify(first.slice(0, 80))}`;
  if (match[2] !== undefined) repairs.add('ICY');
  else if (!/^HTTP\/1\.[01] \d{3}(?: |$)/.test(first)) repairs.add('odd status line');
  const status = Number(match[3]);
  if (status < 100) return `not a status code: ${match[3]}`;
  const old = match[1] === undefined || match[1] === '0.9' || match[1] === '1.0';
  return {
    version: old ? '1.0' : '1.1',
    status,
    statusText: match[4] ?? '',
    headers: readLines(rest, repairs),
    repairs: [...repairs],
  };
}

function readLines(lines: readonly string[], repairs: Set<Repair>): [string, string][] {
  const headers: [string, string][] = [];
  for (const line of lines) {
    const last = headers.at(-1);
    const colon = line.indexOf(':');
    if (/^[ \t]/.test(line)) {
      repairs.add('folded header');
      if (last !== undefined) last[1] = trim(`${last[1]} ${trim(line)}`);
    } else if (colon < 1) {
      repairs.add('line without colon');
    } else {
      const name = line.slice(0, colon);
      const trimmed = name.replace(/[ \t]+$/, '');
      if (trimmed !== name) repairs.add('space before colon');
      headers.push([trimmed, trim(line.slice(colon + 1))]);
    }
  }
  return headers;
}

/** RFC 9112 section 2.2: a CR without LF is replaced by a space. At a line's end it only goes. */
function replaceBareCr(line: string, repairs: Set<Repair>): string {
  if (!line.includes('\r')) return line;
  repairs.add('bare CR');
  return line.replace(/\r+$/, '').replaceAll('\r', ' ');
}

/** Without spaces and tabs around; other white space is part of a value. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
