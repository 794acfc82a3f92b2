import {Collector} from './collector.ts';
import {decodePieces} from './decode.ts';
import {feedHandler, readJsonFeed} from './feed.ts';
import {type Frame, type FrameHandler, withFrames} from './frames.ts';
import {maxSitemapBytes, maxSitemapEntries, type Sitemap, type SitemapKind} from './sitemap.ts';
import {unpack} from './unpack.ts';
import {urlsetHandler} from './urlset.ts';
import {xmlReader} from './xml.ts';

export interface SitemapOptions {
  /** URL of the sitemap: relative URLs are read against it. */
  readonly url: string;
  /** Charset of the Content-Type, which the XML declaration overrides. */
  readonly charset?: string | null;
  /** Most bytes that are read, after unpacking. Default: 50 MiB, the protocol's limit. */
  readonly maxBytes?: number;
  /** Default: 50,000, the protocol's limit. */
  readonly maxEntries?: number;
}

/**
 * Reads any bytes as sitemap, sitemap index, text list, RSS, RDF, Atom or JSON feed, packed or not, as far
 * as they go. Never throws; what is wrong stands in `problems` with its place.
 *
 * What it is shows in the first character and the root element, never in the Content-Type. In memory: the
 * bytes, the entries, and one piece of text of 64 KiB; text and JSON lists also once as text.
 */
export function parseSitemap(bytes: Uint8Array, options: SitemapOptions): Sitemap {
  const found = new Collector(options.url, options.maxEntries ?? maxSitemapEntries);
  const start = {line: 1, column: 1};
  const unpacked = unpack(bytes, options.maxBytes ?? maxSitemapBytes);
  if (unpacked.problem !== null) found.problem('gzip', unpacked.problem, start);
  const text = decodePieces(unpacked.bytes, options.charset ?? null);
  if (text.unknownEncoding !== null) found.problem('encoding', text.unknownEncoding, start);

  const first = firstCharacter(text.pieces());
  if (first === '<') readXml(text.pieces(), found);
  else if (first === '{' || first === '[') readJsonFeed([...text.pieces()].join(''), found);
  else readText(text.pieces(), found);

  return {
    kind: found.kind,
    entries: found.entries,
    problems: found.problems,
    problemCount: found.problemCount,
    truncated: found.full ? 'entries' : unpacked.truncated ? 'bytes' : null,
    encoding: text.encoding,
    packed: unpacked.layers > 0,
  };
}

function firstCharacter(pieces: Iterable<string>): string {
  for (const piece of pieces) {
    const character = /[^\s\0]/.exec(piece);
    if (character !== null) return character[0];
  }
  return '';
}

/** By local name of the root, in lower case. */
const roots: Readonly<Record<string, {kind: SitemapKind; handler: (found: Collector) => FrameHandler}>> = {
  urlset: {kind: 'urlset', handler: urlsetHandler},
  sitemapindex: {kind: 'index', handler: urlsetHandler},
  rss: {kind: 'rss', handler: feedHandler},
  channel: {kind: 'rss', handler: feedHandler},
  feed: {kind: 'atom', handler: feedHandler},
  rdf: {kind: 'rdf', handler: feedHandler},
};

function readXml(pieces: Iterable<string>, found: Collector): void {
  let handler: FrameHandler | undefined;
  const choose = (frame: Frame): FrameHandler => {
    const root = Object.hasOwn(roots, frame.name) ? roots[frame.name] : undefined;
    if (root !== undefined) found.kind = root.kind;
    // A root nobody knows: `url` with `loc` inside would still be entries.
    else found.problem('unknown_root', frame.name, frame.position);
    return (root?.handler ?? urlsetHandler)(found);
  };
  const frames = withFrames({
    open(frame, parents) {
      handler ??= choose(frame);
      handler.open(frame, parents);
    },
    close(frame, parents) {
      handler?.close(frame, parents);
    },
    end() {},
  });
  const reader = xmlReader(frames, (position, detail) => found.problem('xml', detail, position));
  for (const piece of pieces) {
    reader.write(piece);
    if (found.full) reader.stop();
    if (reader.stopped) break;
  }
  reader.end();
  handler?.end();
}

/** A text sitemap: one absolute URL a line. */
function readText(pieces: Iterable<string>, found: Collector): void {
  let line = 0;
  let rest = '';
  const readLine = (text: string) => {
    line++;
    const url = text.trim();
    if (url === '' || found.full) return;
    const position = {line, column: 1};
    const loc = /^https?:\/\//i.test(url) ? found.link(url) : null;
    if (loc === null) found.problem('bad_loc', url, position);
    else found.add({loc, position});
  };
  for (const piece of pieces) {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const text of lines) readLine(text);
    if (found.full) break;
    if (rest.length > longestLine) rest = rest.slice(0, longestLine);
  }
  readLine(rest);
  if (found.entries.length > 0) found.kind = 'text';
}

/** What is beyond belongs to no URL; without it, a file without line ends would be joined again and again. */
const longestLine = 65_536;
