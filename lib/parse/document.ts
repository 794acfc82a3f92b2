import type {Charset} from './charset.ts';
import type {Encoding} from './encoding-labels.ts';
import type {Meta} from './html.ts';
import type {DocumentText} from './html-text.ts';
import type {RawLink} from './links.ts';
import type {MetaRefresh} from './meta-refresh.ts';
import type {PdfBounds} from './pdf-messages.ts';

/** What a parser of a type gets. */
export interface DocumentInput {
  readonly url: string;
  /** Content-decoded body. */
  readonly bytes: Uint8Array;
  /** Type by header and bytes. */
  readonly type: string;
  /** Encoding of the Content-Type header. */
  readonly transport: Encoding | undefined;
  /** Encoding where nothing tells. */
  readonly fallback: Encoding;
  readonly limits: DocumentLimits;
  /** Fetched as a sitemap: a feed or a list of URLs is one too. */
  readonly asSitemap?: boolean;
}

export interface DocumentLimits {
  /** Bytes of a decoded body. */
  readonly maxBody: number;
  /** Characters of text. */
  readonly maxText: number;
  /** Characters of an anchor. */
  readonly maxAnchor: number;
  /** Links gathered before the best are chosen. */
  readonly maxLinks: number;
  /** For reading a PDF; absent: some seconds and megabytes. */
  readonly pdf?: PdfBounds;
}

/** What a document says, whatever its type. What a type doesn't have is absent. */
export interface Document {
  readonly charset?: Charset;
  readonly title?: string | null;
  readonly description?: string | null;
  readonly lang?: string | null;
  readonly base?: string | null;
  readonly metas?: readonly Meta[];
  readonly refresh?: MetaRefresh | undefined;
  readonly links: readonly RawLink[];
  readonly linksCut?: number;
  /** Most links kept, where the type has a limit of its own. */
  readonly linkLimit?: number;
  readonly headings?: readonly {readonly level: number; readonly text: string}[];
  /** Absent: the type has no text. */
  readonly text?: DocumentText;
  readonly jsonLd?: readonly string[];
  readonly times?: readonly {readonly itemprop: string; readonly datetime: string}[];
  readonly published?: Date | null;
  readonly modified?: Date | null;
  /** For people: what could not be read. */
  readonly errors?: readonly string[];
  /** Nothing could be read at all, and why. */
  readonly failure?: {readonly reason: 'parse_failed' | 'parse_timeout'; readonly detail: string};
}

/** One file in types/ and one line in registry.ts make a type readable. */
export interface DocumentType {
  /** Content types, lower case; `+xml` stands for all types that end so. */
  readonly types: readonly string[];
  /** Undefined: it is not of that type after all, and nothing can be read. */
  parse(input: DocumentInput): Document | undefined;
}
