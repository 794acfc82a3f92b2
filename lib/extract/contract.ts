import type {PageColumns} from '../parse/page.ts';
import type {Outlink} from '../schema/outlinks.ts';
import type {Column} from '../schema/table.ts';
import type {Document, Element, MarkupEvents, Node} from './nodes.ts';

/**
 * What an extractor is: the default export of a module. Its rows become a table of its name.
 *
 *     export default {
 *       doc: 'Headings of level two.',
 *       columns: {heading: {type: 'text'}},
 *       *extract(page) {
 *         for (const node of page.select('h2')) yield {heading: page.text(node)};
 *       },
 *     };
 */
export interface Extractor {
  /** Name of the table: lower case letters, digits, underlines. The file's name if absent. */
  readonly name?: string;
  /** One sentence: what a row is. */
  readonly doc?: string;
  /** Content types that it reads, as `text/html`, `image/*`, or `*` for all; HTML and XHTML if absent. */
  readonly types?: readonly string[];
  /** Columns by name, in their order in the table. */
  readonly columns: Readonly<Record<string, ExtractColumn>>;
  /**
   * Rows of a page: an iterable of objects, one object, or nothing. Called once for each page, without waiting: it
   * cannot be async, and should read nothing but the page, so that the same page gives the same rows. If it throws,
   * the page has no row, and the error stands in the table `extractions`.
   */
  extract(page: ExtractPage): Iterable<ExtractedRow> | ExtractedRow | null | undefined;
}

/**
 * A column: `text` takes a string, `json` any value that JSON has, `bytes` a Uint8Array, `boolean` a boolean,
 * `int16`, `int32`, `count` (64 bit) whole numbers, `double` a number, `key` a bigint, `timestamp` a Date.
 */
export type ExtractColumn = Pick<Column, 'type' | 'values' | 'unit' | 'example'> & {
  readonly doc?: string;
  /** Whether a row may lack it. A row that lacks another column is an error of the page. */
  readonly nullable?: boolean;
};

/** Values by column; one that is absent is null. */
export type ExtractedRow = Readonly<Record<string, unknown>>;

/** A link of a page, as the table `outlinks` has it. */
export type PageLink = Pick<
  Outlink,
  'to_url' | 'href' | 'kind' | 'anchor' | 'rel' | 'accepted' | 'reason' | 'position'
>;

/** A stored page. What takes time is made when it is first asked for, and shared by all extractors: leave it unchanged. */
export interface ExtractPage {
  /** Normalized. */
  readonly url: string;
  readonly captureId: string;
  readonly segment: string;
  /** What it was fetched for: page, hop, sitemap, rendered, imported. */
  readonly kind: string;
  readonly fetchTime: Date;
  readonly fetchStatus: number | null;
  /** Content type by header and first bytes, in lower case, without parameters. */
  readonly contentType: string | null;
  /** Fields of the answer by name in lower case, each with its values as received. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** First value of a field, whatever the case of its name; null without one. */
  header(name: string): string | null;
  /** Body with its content coding undone, at most `parse.max_body`. */
  readonly bytes: Uint8Array;
  /** The body as text, in the encoding that the parser would read it in. */
  readonly source: string;
  /** Columns of the table `parse`, those about URLs left out: title, description, text, main_text, published_time … */
  readonly parsed: PageColumns;
  /** Links with their resolved URL and the scope's verdict. */
  readonly links: readonly PageLink[];
  /** JSON-LD blocks as values. */
  readonly jsonLd: readonly unknown[];
  /** Things of JSON-LD that are of a type, as `Product`, wherever they stand; with schema.org's address or without. */
  things(type: string): Readonly<Record<string, unknown>>[];
  /** Open Graph and its kin: a property that is there several times is an array. */
  readonly openGraph: Readonly<Record<string, string | readonly string[]>>;
  /** The page as a tree. */
  readonly dom: Document;
  /** Elements that a CSS selector matches, below `within` if it is given. */
  select(selector: string, within?: Document | Element): Element[];
  /** The first of them, or null. */
  first(selector: string, within?: Document | Element): Element | null;
  /** Text that a person reads in a node, white space folded; null where there is none. */
  text(node: Document | Node | null | undefined): string | null;
  /** The markup event by event: for what needs no tree, and must not hold one. */
  events(events: MarkupEvents): void;
  /** A link of the page as an absolute URL; null where it is none. */
  resolve(href: string | null | undefined): string | null;
}
