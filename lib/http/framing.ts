import type {HeaderBlock} from './header-block.ts';

/** Where a response's body ends, and whether the connection can carry another request after it. Pure. */
export interface Framing {
  /** A length in bytes, or how the end is told. */
  readonly body: number | 'chunked' | 'until close';
  readonly keepAlive: boolean;
  /** Keep-Alive header as received: the server's word on how long it waits; empty without one. */
  readonly keepAliveHint: string;
}

/**
 * RFC 9112 section 6.3 with the Fetch standard's Content-Length rules, which say what browsers do with lengths
 * that are none. A message whose framing is in doubt is refused or read to the end of its connection,
 * never guessed on a connection that lives on.
 *
 * @returns the framing, or in words why there is none
 */
export function framingOf(block: HeaderBlock): Framing | string {
  let lengths: string | undefined;
  let codings: string | undefined;
  let connection = '';
  let keepAliveHint = '';
  for (const [name, value] of block.headers) {
    // By length first: most headers are none of these, and lower-casing all names costs more than the rest.
    if (name.length === 14 && name.toLowerCase() === 'content-length') {
      lengths = lengths === undefined ? value : `${lengths},${value}`;
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      codings = codings === undefined ? value : `${codings},${value}`;
    } else if (name.length === 10) {
      const lower = name.toLowerCase();
      if (lower === 'connection') connection += `,${value}`;
      else if (lower === 'keep-alive') keepAliveHint = value;
    }
  }
  const persistent = keepsAlive(block.version, connection);
  const {status} = block;
  if (status < 200 || status === 204 || status === 304) {
    return {body: 0, keepAlive: persistent && status >= 200, keepAliveHint};
  }
  const coding = codings === undefined ? 'none' : transferCoding(codings);
  if (coding === 'unknown') return `transfer coding not understood: ${codings}`;
  if (coding === 'chunked') {
    // Content-Length beside it is ignored, and the connection not used again (RFC 9112 section 6.3, item 3).
    return {
      body: 'chunked',
      keepAlive: persistent && lengths === undefined && block.version === '1.1',
      keepAliveHint,
    };
  }
  const length = lengths === undefined ? undefined : contentLength(lengths);
  if (typeof length === 'string') return length;
  return length === undefined
    ? {body: 'until close', keepAlive: false, keepAliveHint}
    : {body: length, keepAlive: persistent && coding === 'none', keepAliveHint};
}

function keepsAlive(version: HeaderBlock['version'], connection: string): boolean {
  if (connection === '') return version === '1.1';
  const tokens = connection.toLowerCase().split(/[ \t]*,[ \t]*/);
  if (tokens.includes('close')) return false;
  return version === '1.1' || tokens.includes('keep-alive');
}

/** `chunked` must come last and once. `identity` is RFC 2616's word for none. */
function transferCoding(value: string): 'none' | 'chunked' | 'unknown' {
  const codings = value
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length === 0) return 'none';
  const known = codings.slice(0, -1).every((coding) => /^(?:x-)?(?:gzip|deflate|compress)$/.test(coding));
  return known && codings.at(-1) === 'chunked' ? 'chunked' : 'unknown';
}

/** Browsers take a length that does not fit into 63 bits for none. */
const maxLength = 2n ** 63n - 1n;

/** Undefined: as if the header were absent. A text: why the message is refused. */
function contentLength(value: string): number | string | undefined {
  // The plain case; 15 digits are exact.
  if (/^\d{1,15}$/.test(value)) return Number(value);
  const [first = '', ...others] = value.split(',').map((part) => part.trim());
  if (others.some((other) => other !== first)) return `Content-Length says several things: ${value}`;
  if (!/^\d+$/.test(first) || BigInt(first) > maxLength) return undefined;
  return Math.min(Number(first), Number.MAX_SAFE_INTEGER);
}

/**
 * A header block that says nothing but the framing, for the decoder of bodies. It sees this in place of the one
 * that was received: what is odd there can't confuse it, and a long header costs it nothing.
 */
export function plainHeader(framing: Framing): Buffer {
  const length =
    framing.body === 'until close'
      ? ''
      : framing.body === 'chunked'
        ? 'transfer-encoding: chunked\r\n'
        : `content-length: ${framing.body}\r\n`;
  const life = framing.keepAlive ? keepAliveLine(framing.keepAliveHint) : 'connection: close\r\n';
  return Buffer.from(`HTTP/1.1 200 OK\r\n${length}${life}\r\n`, 'latin1');
}

function keepAliveLine(hint: string): string {
  const seconds = /timeout=\s*"?(\d{1,6})/i.exec(hint)?.[1];
  return seconds === undefined ? '' : `keep-alive: timeout=${seconds}\r\n`;
}
