import {Collector} from './collector.ts';
import {decodeText} from './decode.ts';
import {feedHandler, readJsonFeed} from './feed.ts';
import {type Frame, type FrameHandler, withFrames} from './frames.ts';
import {maxSitemapBytes, maxSitemapEntries, type Sitemap, type SitemapKind} from './sitemap.ts';
import {unpack} from './unpack.ts';
import {urlsetHandler} from './urlset.ts';
import {readXml} from './xml.ts';

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
 * bytes, their text, and the entries; so at most about 200 MiB at the protocol's limits.
 */
export function parseSitemap(bytes: Uint8Array, options: SitemapOptions): Sitemap {
  const found = new Collector(options.url, options.maxEntries ?? maxSitemapEntries);
  const start = {line: 1, column: 1};
  const unpacked = unpack(bytes, options.maxBytes ?? maxSitemapBytes);
  if (unpacked.problem !== null) found.problem('gzip', unpacked.problem, start);
  const {text, encoding, unknownEncoding} = decodeText(unpacked.bytes, options.charset ?? null);
  if (unknownEncoding !== null) found.problem('encoding', unknownEncoding, start);

  const first = /[^\s\0]/.exec(text)?.[0] ?? '';
  if (first === '<') readMarkup(text, found);
  else if (first === '{' || first === '[') readJsonFeed(text, found);
  else readText(text, found);

  return {
    kind: found.kind,
    entries: found.entries,
    problems: found.problems,
    problemCount: found.problemCount,
    truncated: found.full ? 'entries' : unpacked.truncated ? 'bytes' : null,
    encoding,
    packed: unpacked.layers > 0,
    feed: feedKinds.has(found.kind) ? found.feed : null,
  };
}

const feedKinds: ReadonlySet<SitemapKind> = new Set(['rss', 'atom', 'rdf', 'json_feed']);

/** By local name of the root, in lower case. */
const roots: Readonly<Record<string, {kind: SitemapKind; handler: (found: Collector) => FrameHandler}>> = {
  urlset: {kind: 'urlset', handler: urlsetHandler},
  sitemapindex: {kind: 'index', handler: urlsetHandler},
  rss: {kind: 'rss', handler: feedHandler},
  channel: {kind: 'rss', handler: feedHandler},
  feed: {kind: 'atom', handler: feedHandler},
  rdf: {kind: 'rdf', handler: feedHandler},
};

function readMarkup(text: string, found: Collector): void {
  let handler: FrameHandler | undefined;
  const choose = (frame: Frame): FrameHandler => {
    const root = Object.hasOwn(roots, frame.name) ? roots[frame.name] : undefined;
    if (root !== undefined) found.kind = root.kind;
    // A root nobody knows: `url` with `loc` inside would still be entries.
    else found.problem('unknown_root', frame.name, frame.position);
    return (root?.handler ?? urlsetHandler)(found);
  };
  const first: FrameHandler = {
    open(frame, parents) {
      handler ??= choose(frame);
      handler.open(frame, parents);
    },
    close(frame, parents) {
      handler?.close(frame, parents);
    },
    end() {},
  };
  readXml(
    text,
    withFrames(first, () => found.full),
    (position, detail) => found.problem('xml', detail, position),
  );
  handler?.end();
}

/** A text sitemap: one absolute URL a line. */
function readText(text: string, found: Collector): void {
  for (const [index, written] of text.split(/\r\n|\n|\r/).entries()) {
    const url = written.trim();
    if (url === '') continue;
    if (found.full) break;
    const position = {line: index + 1, column: 1};
    const loc = /^https?:\/\//i.test(url) ? found.link(url) : null;
    if (loc === null) found.problem('bad_loc', url, position);
    else found.add({loc, position});
  }
  if (found.entries.length > 0) found.kind = 'text';
}
