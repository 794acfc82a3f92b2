import {findCharset, transportEncoding} from '../parse/charset.ts';
import {decoderOf} from '../parse/decode.ts';
import {baseOf} from '../parse/outlinks.ts';
import type {PageColumns, PageInput, PageOptions} from '../parse/page.ts';
import {type Received, receive} from '../parse/receive.ts';
import {isXml} from '../parse/sniff.ts';
import {parseUrl} from '../url/parse.ts';
import type {ExtractPage, PageLink} from './contract.ts';
import {readEvents, readTree, select, selectFirst, textOf} from './dom.ts';
import type {Document, Element, MarkupEvents, Node} from './nodes.ts';
import {thingsOf} from './things.ts';

/** What a parse made of the page. */
export interface ParsedFacts {
  readonly columns: PageColumns;
  readonly links: readonly PageLink[];
  /** Base of relative links as the page states it, resolved; null: its URL. */
  readonly base: string | null;
}

/** A capture, and how to get at what a parse makes of it. */
export interface PageSource {
  readonly input: PageInput;
  readonly captureId: string;
  readonly segment: string;
  readonly kind: string;
  readonly fetchTime: Date;
  readonly fetchStatus: number | null;
  readonly options: Pick<PageOptions, 'maxBody' | 'maxRatio' | 'fallback'>;
  /** The capture with its coding undone, where that is shared with a parse. */
  received?(): Received;
  /** What the parse made of it; called once, when it is first asked for. */
  parse(): ParsedFacts;
}

/** A page for extractors: everything is made when it is first asked for. */
export class StoredPage implements ExtractPage {
  readonly #source: PageSource;
  #received: Received | undefined;
  #parsed: ParsedFacts | undefined;
  #text: string | undefined;
  #tree: Document | undefined;
  #jsonLd: readonly unknown[] | undefined;
  #base: URL | undefined;

  constructor(source: PageSource) {
    this.#source = source;
  }

  get url(): string {
    return this.#source.input.url;
  }
  get captureId(): string {
    return this.#source.captureId;
  }
  get segment(): string {
    return this.#source.segment;
  }
  get kind(): string {
    return this.#source.kind;
  }
  get fetchTime(): Date {
    return this.#source.fetchTime;
  }
  get fetchStatus(): number | null {
    return this.#source.fetchStatus;
  }
  get contentType(): string | null {
    return this.#receive().type;
  }
  get headers(): ReadonlyMap<string, readonly string[]> {
    return this.#receive().fields;
  }
  header(name: string): string | null {
    return this.headers.get(name.toLowerCase())?.[0] ?? null;
  }
  get bytes(): Uint8Array {
    return this.#receive().body.bytes;
  }

  get source(): string {
    if (this.#text === undefined) {
      const {body, headerType, type} = this.#receive();
      const charset = findCharset(body.bytes, {
        transport: transportEncoding(headerType?.charset),
        syntax: syntaxOf(type),
        fallback: isMarkupXml(type) ? 'utf-8' : this.#source.options.fallback,
      });
      this.#text = decoderOf(charset.encoding).decode(body.bytes.subarray(charset.bom));
    }
    return this.#text;
  }

  get parsed(): PageColumns {
    return this.#facts().columns;
  }
  get links(): readonly PageLink[] {
    return this.#facts().links;
  }
  get jsonLd(): readonly unknown[] {
    const text = this.parsed.json_ld;
    this.#jsonLd ??= text === null ? [] : (JSON.parse(text) as unknown[]); // written by the parser
    return this.#jsonLd;
  }
  things(type: string): Readonly<Record<string, unknown>>[] {
    return thingsOf(this.jsonLd, type);
  }
  get openGraph(): Readonly<Record<string, string | readonly string[]>> {
    const text = this.parsed.open_graph;
    return text === null ? {} : (JSON.parse(text) as Record<string, string | string[]>); // written by the parser
  }

  get dom(): Document {
    this.#tree ??= readTree(this.source, this.#xml);
    return this.#tree;
  }
  select(selector: string, within: Document | Element = this.dom): Element[] {
    return select(selector, within, this.#xml);
  }
  first(selector: string, within: Document | Element = this.dom): Element | null {
    return selectFirst(selector, within, this.#xml);
  }
  text(node: Document | Node | null | undefined): string | null {
    return node === null || node === undefined ? null : textOf(node) || null;
  }
  events(events: MarkupEvents): void {
    readEvents(this.source, this.#xml, events);
  }
  resolve(href: string | null | undefined): string | null {
    if (href === null || href === undefined) return null;
    this.#base ??= parseUrl(this.#findBase());
    return parseUrl(href.trim(), this.#base)?.href ?? null;
  }

  get #xml(): boolean {
    const type = this.contentType;
    return isMarkupXml(type) && type !== 'application/xhtml+xml';
  }
  #receive(): Received {
    this.#received ??= this.#source.received?.() ?? receive(this.#source.input, this.#source.options);
    return this.#received;
  }
  #facts(): ParsedFacts {
    this.#parsed ??= this.#source.parse();
    return this.#parsed;
  }
  /** The parse knows the base; without one, the first `base` of the tree where there is a tree. */
  #findBase(): string {
    if (this.#parsed !== undefined || this.#tree === undefined) return this.#facts().base ?? this.url;
    return baseOf(this.url, selectFirst('base[href]', this.#tree, this.#xml)?.attribs.href ?? null);
  }
}

function isMarkupXml(type: string | null): boolean {
  return type !== null && isXml(type);
}

function syntaxOf(type: string | null): 'html' | 'xml' | 'json' | 'text' {
  if (type === 'text/html') return 'html';
  if (isMarkupXml(type)) return 'xml';
  return type !== null && /[/+]json$/.test(type) ? 'json' : 'text';
}
