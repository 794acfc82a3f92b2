// biome-ignore-all lint/suspicious/noControlCharactersInRegex: patterns over bytes
import {latin1View} from './decode.ts';
import type {ContentType} from './mime.ts';

/** Bytes that the standard reads at most. */
const headerBytes = 1445;

/** Tags that make a body HTML, each followed by a space or `>`. */
const htmlStart =
  /^(?:<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >]|<!--)/i;

/** Exact first bytes, as latin1, after nothing. */
const magics: readonly (readonly [start: RegExp, essence: string])[] = [
  [/^%PDF-/, 'application/pdf'],
  [/^%!PS-Adobe-/, 'application/postscript'],
  [/^(?:\x00\x00\x01\x00|\x00\x00\x02\x00)/, 'image/x-icon'],
  [/^BM/, 'image/bmp'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[\s\S]{4}WEBPVP/, 'image/webp'],
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^FORM[\s\S]{4}AIFF/, 'audio/aiff'],
  [/^ID3/, 'audio/mpeg'],
  [/^OggS\x00/, 'application/ogg'],
  [/^MThd\x00\x00\x00\x06/, 'audio/midi'],
  [/^RIFF[\s\S]{4}AVI /, 'video/avi'],
  [/^RIFF[\s\S]{4}WAVE/, 'audio/wave'],
  [/^\x1f\x8b\x08/, 'application/x-gzip'],
  [/^PK\x03\x04/, 'application/zip'],
  [/^Rar!\x1a\x07/, 'application/x-rar-compressed'],
  [/^wOFF/, 'font/woff'],
  [/^wOF2/, 'font/woff2'],
];

/** Control bytes that text does not have. */
const binary = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/**
 * Type of a body by its first bytes alone, scripting allowed.
 *
 * @see https://mimesniff.spec.whatwg.org/#rules-for-identifying-an-unknown-mime-type
 */
export function sniff(bytes: Uint8Array): string {
  const text = latin1View(bytes.subarray(0, headerBytes));
  const trimmed = text.replace(/^[\t\n\f\r ]+/, '');
  if (htmlStart.test(trimmed)) return 'text/html';
  if (trimmed.startsWith('<?xml')) return 'text/xml';
  if (/^(?:\xfe\xff|\xff\xfe|\xef\xbb\xbf)/.test(text)) return 'text/plain';
  for (const [start, essence] of magics) if (start.test(text)) return essence;
  if (isMp4(text)) return 'video/mp4';
  if (text.startsWith('\x1a\x45\xdf\xa3') && /\x42\x82[\s\S]{0,8}webm/.test(text.slice(0, 48)))
    return 'video/webm';
  return binary.test(text) ? 'application/octet-stream' : 'text/plain';
}

/**
 * The standard wants the whole first box in the bytes; a body cut within it is still MP4.
 *
 * @see https://mimesniff.spec.whatwg.org/#signature-for-mp4
 */
function isMp4(text: string): boolean {
  if (text.length < 12 || text.slice(4, 8) !== 'ftyp') return false;
  const size = ((text.charCodeAt(0) << 24) | (text.charCodeAt(1) << 16) | (text.charCodeAt(2) << 8)) >>> 0;
  const box = size + text.charCodeAt(3);
  if (box % 4 !== 0) return false;
  if (text.slice(8, 11) === 'mp4') return true;
  for (let at = 16; at < Math.min(box, text.length); at += 4)
    if (text.slice(at, at + 3) === 'mp4') return true;
  return false;
}

/** Essences that XML is sent as. */
export function isXml(essence: string): boolean {
  return essence === 'text/xml' || essence === 'application/xml' || essence.endsWith('+xml');
}

/** Header types that servers give when they know nothing: the bytes decide. */
const uninformative: ReadonlySet<string> = new Set([
  'unknown/unknown',
  'application/unknown',
  '*/*',
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-unknown',
  'text/plain',
]);

/**
 * Type of a body by header and bytes: what the parser is chosen by.
 *
 * The header is believed, except: without a usable one the bytes decide; `text/plain` and
 * `application/octet-stream` give way to what the bytes clearly are; HTML and XML are looked into for feeds,
 * sitemaps and XHTML; a binary body is not HTML, whatever the header says.
 */
export function detectType(header: ContentType | undefined, bytes: Uint8Array): string {
  const sniffed = sniff(bytes);
  const claimed = header?.essence;
  if (claimed === undefined || uninformative.has(claimed)) {
    if (claimed === 'text/plain') {
      // A page source shown as text stays text; feeds and sitemaps sent as text are what they are.
      const inside = sniffed === 'text/xml' || sniffed === 'text/plain' ? xmlKind(bytes) : undefined;
      return inside ?? (sniffed === 'text/html' || sniffed === 'text/xml' ? 'text/plain' : sniffed);
    }
    return sniffed === 'text/xml' || sniffed === 'text/html' || sniffed === 'text/plain'
      ? (xmlKind(bytes) ?? (looksLikeJson(bytes) ? jsonKind(bytes) : sniffed))
      : sniffed;
  }
  if (claimed === 'text/html' || isXml(claimed)) {
    if (sniffed.startsWith('image/') || sniffed === 'application/pdf' || sniffed === 'application/x-gzip')
      return sniffed;
    if (claimed === 'image/svg+xml') return claimed;
    const kind = xmlKind(bytes);
    // A page may begin with a drawing, html and body being optional tags
    return kind === undefined || (claimed === 'text/html' && kind === roots.svg) ? claimed : kind;
  }
  return claimed === 'application/json' || claimed === 'text/json' ? jsonKind(bytes) : claimed;
}

/** Root elements of XML, and the type that the parser for them is registered under. */
const roots: Readonly<Record<string, string>> = {
  rss: 'application/rss+xml',
  rdf: 'application/rdf+xml',
  feed: 'application/atom+xml',
  urlset: 'application/x-sitemap+xml',
  sitemapindex: 'application/x-sitemap+xml',
  html: 'application/xhtml+xml',
  svg: 'image/svg+xml',
};

/** Type by the root element, where the body is XML with a root known here; HTML itself is not XML. */
function xmlKind(bytes: Uint8Array): string | undefined {
  const wide = bytes[0] === 0xff || bytes[0] === 0xfe || bytes[0] === 0 || bytes[1] === 0;
  let head = latin1View(bytes.subarray(0, 4096)).replace(/^\xef\xbb\xbf/, '');
  if (wide) head = head.replace(/\x00|^(?:\xff\xfe|\xfe\xff)/g, '');
  if (!/^\s*</.test(head)) return undefined;
  const declared = /^\s*<\?xml\s/.test(head);
  const prolog =
    /^(?:\s+|<\?[^>]*>|<!--[\s\S]*?-->|<![^>[]*(?:\[[^\]]*\]\s*)?>)*/.exec(head)?.[0].length ?? 0;
  const root = /^<(?:([a-zA-Z][\w.-]*):)?([a-zA-Z][\w.-]*)/.exec(head.slice(prolog));
  if (root === null) return undefined;
  const name = root[2]!.toLowerCase();
  if (name !== 'html' && /<!doctype\s+html[\s>]/i.test(head.slice(0, prolog))) return undefined;
  if (name === 'html') return declared && /xmlns/.test(head) ? roots.html : undefined;
  return Object.hasOwn(roots, name) ? roots[name] : undefined;
}

/** JSON feeds are told from other JSON by their version. @see https://www.jsonfeed.org/version/1.1/ */
function jsonKind(bytes: Uint8Array): string {
  return /"version"\s*:\s*"https?:\\?\/\\?\/(?:www\.)?jsonfeed\.org/.test(latin1View(bytes.subarray(0, 4096)))
    ? 'application/feed+json'
    : 'application/json';
}

function looksLikeJson(bytes: Uint8Array): boolean {
  return /^\s*(?:\{\s*(?:"|\})|\[\s*(?:[[{"\]\d]))/.test(latin1View(bytes.subarray(0, 64)));
}
