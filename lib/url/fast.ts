import type {ParsedBase} from './base.ts';
import {maxHost, maxLabel} from './host.ts';
import {charKind, charKinds, hexValue} from './percent.ts';
import type {HostPolicy, UrlPolicy} from './policy.ts';

/**
 * The short way for the URLs that most links have: ASCII, absolute or simply relative, and in their one form
 * already but for a fragment. It is one pass over the characters; whatever it is not sure of is left to the
 * plain way. A property test compares the two.
 */

const slash = 47;
const dot = 46;

/** A link as an absolute URL by the text alone, or undefined where only the parser knows. */
export function joinSimply(href: string, base: ParsedBase): string | undefined {
  const {origin, directory, path} = base;
  if (origin === undefined) return undefined;
  switch (href.charCodeAt(0)) {
    case slash:
      return href.charCodeAt(1) === slash ? base.scheme + href : origin + href;
    case 63: // ?
      return origin + path + href;
    case 35: // #
      return base.withoutFragment;
    case dot:
      return climb(href, origin, directory);
    default:
      return simpleStart.test(href) ? origin + directory + href : undefined;
  }
}

/** A first segment that can be no scheme: no colon in it. */
const simpleStart = /^[A-Za-z0-9\-_~!$&'()*+,;=@%.]+(?:[/?#]|$)/;

function climb(href: string, origin: string, directory: string): string | undefined {
  let dir = directory;
  let from = 0;
  while (href.charCodeAt(from) === dot) {
    if (href.startsWith('./', from)) from += 2;
    else if (href.startsWith('../', from)) {
      from += 3;
      if (dir.length > 1) dir = dir.slice(0, dir.lastIndexOf('/', dir.length - 2) + 1);
    } else return undefined;
  }
  return origin + dir + (from === 0 ? href : href.slice(from));
}

/** The URL without its fragment, if it is in its one form; undefined where that is not plain to see. */
export function alreadyNormal(url: string, policy: UrlPolicy, host: HostPolicy): string | undefined {
  const start = url.startsWith('https://') ? 8 : url.startsWith('http://') ? 7 : 0;
  if (start === 0 || (policy.stripWww && url.startsWith('www.', start))) return undefined;
  let i = plainHostEnd(url, start);
  if (i < 0) return undefined;

  // The path
  const end = url.length;
  let code = slash;
  for (; i < end; i++) {
    code = url.charCodeAt(i);
    const kind = charKinds[code];
    if (kind === charKind.unreserved) continue;
    if (kind === charKind.reserved) {
      if (code === slash) {
        const next = url.charCodeAt(i + 1);
        // A dot segment, or a file whose name begins with a dot
        if (next === dot || (next === slash && host.collapseSlashes)) return undefined;
        if (next === 40 && policy.stripSessionIds) return undefined; // (
      } else if (code === 59 && policy.stripSessionIds) return undefined; // ;
      continue;
    }
    if (kind === charKind.percent) {
      if (!plainEscape(url, i)) return undefined;
      i += 2;
      continue;
    }
    break;
  }
  if (i === end) return url;
  if (code === 35) return url.slice(0, i);
  if (code !== 63 || host.sort) return undefined;

  // The query
  const queryStart = ++i;
  let nameStart = i;
  let inName = true;
  for (; i < end; i++) {
    code = url.charCodeAt(i);
    const kind = charKinds[code];
    if (kind === charKind.unreserved) continue;
    if (code === 35) break;
    if (inName && (code === 61 || code === 38)) {
      if (i > nameStart && host.mayDrop(url.slice(nameStart, i))) return undefined;
      inName = false;
    }
    if (code === 38) {
      nameStart = i + 1;
      inName = true;
    } else if (kind === charKind.percent) {
      if (!plainEscape(url, i)) return undefined;
      i += 2;
    } else if (code === 39 || (kind !== charKind.reserved && code !== 63)) return undefined; // '
  }
  if (i === queryStart || (inName && i > nameStart && host.mayDrop(url.slice(nameStart, i))))
    return undefined;
  return i === end ? url : url.slice(0, i);
}

/**
 * Where the path begins, if the host is a name that the parser leaves as it is; else -1. Left to the parser:
 * capitals, `xn--`, addresses, names that end in a number, default ports.
 */
function plainHostEnd(url: string, start: number): number {
  let label = start;
  for (let i = start; i < url.length; i++) {
    const code = url.charCodeAt(i);
    if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) continue;
    if (code === 45) {
      if (i === label + 3 && url.charCodeAt(i - 1) === 45) return -1;
    } else if (code === dot) {
      if (i === label || i - label > maxLabel) return -1;
      label = i + 1;
    } else {
      const first = url.charCodeAt(label);
      if (i === label || i - label > maxLabel || i - start > maxHost || (first >= 48 && first <= 57))
        return -1;
      if (code === slash) return i;
      return code === 58 ? plainPortEnd(url, i + 1, start) : -1;
    }
  }
  return -1;
}

function plainPortEnd(url: string, start: number, hostStart: number): number {
  let port = 0;
  for (let i = start; i < start + 6; i++) {
    const code = url.charCodeAt(i);
    if (code === slash) return port > 65535 || port === 0 || port === (hostStart === 8 ? 443 : 80) ? -1 : i;
    if (code < 48 || code > 57 || (i === start && code === 48)) return -1;
    port = port * 10 + code - 48;
  }
  return -1;
}

/** Is `%` at `i` the start of an escape in its one form? */
function plainEscape(url: string, i: number): boolean {
  const high = url.charCodeAt(i + 1);
  const low = url.charCodeAt(i + 2);
  const a = hexValue(high);
  const b = hexValue(low);
  if (!(a >= 0 && b >= 0) || high > 70 || low > 70) return false;
  const byte = a * 16 + b;
  return byte >= 128 || charKinds[byte] !== charKind.unreserved;
}
