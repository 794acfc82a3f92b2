import {cssUrls} from './css.ts';
import type {Slicer} from './decode.ts';
import {Excerpt} from './excerpt.ts';
import {type Attributes, type MarkupHandler, type MarkupSource, readMarkup} from './html-events.ts';
import {elementLinks, type LinkSink} from './html-links.ts';
import {headingLevel, isBalanced, isBlock, isBoilerplate, isSilent, tags} from './html-names.ts';
import {cutText, type DocumentText, foldSpace, PlainText, type TextSink} from './html-text.ts';
import {leadsNowhere, type RawLink} from './links.ts';
import {type MetaRefresh, parseMetaRefresh} from './meta-refresh.ts';
import {Utf8Text} from './utf8-text.ts';

/** A `meta` element: its name, property, itemprop or http-equiv in lower case, and its content. */
export interface Meta {
  readonly key: string;
  readonly content: string;
}

/** What an HTML page says, nothing resolved or decided yet. */
export interface HtmlFacts {
  readonly title: string | null;
  /** Of the root element; else of `meta http-equiv=content-language`. */
  readonly lang: string | null;
  /** `href` of the first `base` that has one. */
  readonly base: string | null;
  readonly metas: readonly Meta[];
  readonly refresh: MetaRefresh | undefined;
  readonly links: readonly RawLink[];
  readonly headings: readonly {readonly level: number; readonly text: string}[];
  readonly text: DocumentText;
  /** JSON-LD blocks as written. */
  readonly jsonLd: readonly string[];
  /** `time` elements with what they are said to be. */
  readonly times: readonly {readonly itemprop: string; readonly datetime: string}[];
  /** Links beyond maxLinks, not even gathered. */
  readonly linksCut: number;
}

export interface HtmlLimits {
  /** Characters of text. */
  readonly maxText: number;
  /** Characters of an anchor. */
  readonly maxAnchor: number;
  /** Links gathered; a multiple of what is kept, so that the best can be chosen. */
  readonly maxLinks: number;
}

/** Chosen: far more than any honest page has; bounds what a hostile one can make us hold. */
const maxMetas = 500;
const maxJsonLd = 50;
const maxHeadings = 500;
const maxTimes = 100;
/** Characters of a title, a heading or a meta: beyond this nobody reads. */
const maxShort = 10_000;

/**
 * Reads an HTML page in one pass over its tags.
 *
 * `noscript` is read as what it is to us, who run no scripts: part of the page. `template` is inert and left out,
 * unless it is a declarative shadow root, which browsers show. Elements that are `hidden` give no text, but links.
 * Text of scripts, styles, text areas, options and frames is no text of the page.
 */
export function readHtml(source: MarkupSource, limits: HtmlLimits): HtmlFacts {
  const reader = new PageReader(source, limits);
  readMarkup(source, reader);
  return reader.finish();
}

class PageReader implements MarkupHandler, LinkSink {
  readonly #limits: HtmlLimits;
  readonly #slice: Slicer;
  readonly #text: TextSink;
  readonly #links: RawLink[] = [];
  readonly #metas: Meta[] = [];
  readonly #headings: {level: number; text: string}[] = [];
  readonly #jsonLd: string[] = [];
  readonly #times: {itemprop: string; datetime: string}[] = [];
  #linksCut = 0;
  #title: string | null = null;
  #lang: string | null = null;
  #base: string | null = null;
  #refresh: MetaRefresh | undefined;

  /** Element whose content is text of its own kind: script, style, title and so on; 0 if none. */
  #raw = 0;
  /** Text gathered of a title, style or JSON-LD script; undefined: not wanted. */
  #rawText: string | undefined;
  #template = 0;
  /** The element that hides its content, and how deep we are in elements of its name. */
  #hiddenTag = 0;
  #hiddenDepth = 0;
  #foreign = 0;
  #option = false;
  /** Depth in elements of boilerplate; by name, since end tags may be missing. */
  #boilerplate = 0;
  #heading = 0;
  readonly #headingText: Excerpt;
  #anchor: RawLink | undefined;
  readonly #anchorText: Excerpt;
  #inLink = false;

  constructor({view, bytes, slice}: MarkupSource, limits: HtmlLimits) {
    this.#limits = limits;
    this.#slice = slice;
    // A page that is shorter than the limit in bytes has no text beyond it.
    this.#text =
      bytes !== undefined && bytes.length < limits.maxText
        ? new Utf8Text(bytes, view)
        : new PlainText(slice, limits.maxText);
    this.#headingText = new Excerpt(this.#text, maxShort);
    this.#anchorText = new Excerpt(this.#text, limits.maxAnchor * 4);
  }

  inForeignContent(): boolean {
    return this.#foreign > 0;
  }

  wantsText(): boolean {
    if (this.#raw !== 0) return this.#rawText !== undefined;
    return this.#template === 0 && this.#hiddenTag === 0 && !this.#option;
  }

  text(start: number, end: number): void {
    if (this.#raw !== 0) {
      if (this.#rawText !== undefined) this.#rawText += this.#slice(start, end);
      return;
    }
    if (this.#text.add(start, end, this.#inLink)) return;
    // Beyond the limit of the page's text anchors and headings still have theirs.
    if (this.#anchor !== undefined || this.#heading !== 0) this.#insert(this.#slice(start, end));
  }

  entity(codepoint: number): void {
    if (this.#raw !== 0) {
      if (this.#rawText !== undefined) this.#rawText += String.fromCodePoint(codepoint);
      return;
    }
    if (this.#text.addCodePoint(codepoint, this.#inLink)) return;
    this.#insert(String.fromCodePoint(codepoint));
  }

  #insert(piece: string): void {
    if (this.#anchor !== undefined) this.#anchorText.insert(piece);
    if (this.#heading !== 0) this.#headingText.insert(piece);
  }

  open(tag: number, attributes: Attributes): void {
    if (tag === 0) {
      if (!attributes.empty && this.#template === 0) elementLinks(tag, attributes, this);
      return;
    }
    if (this.#template > 0 || (tag === tags.template && attributes.get('shadowrootmode') === undefined)) {
      if (tag === tags.template) this.#template++;
      if (isSilent[tag] === 1 && tag !== tags.title) this.#raw = tag;
      return;
    }
    if (isBlock[tag] === 1) this.#break(tag);
    if (isBoilerplate[tag] === 1) this.#boilerplate++;
    if (tag === tags.svg || tag === tags.math) this.#foreign++;
    if (this.#hiddenTag !== 0) {
      if (tag === this.#hiddenTag) this.#hiddenDepth++;
    } else if (isBalanced[tag] === 1 && !attributes.empty && isHidden(attributes)) {
      this.#hiddenTag = tag;
      this.#hiddenDepth = 1;
    }
    if (isSilent[tag] === 1) this.#openRaw(tag, attributes);
    switch (tag) {
      case tags.a:
        this.#openAnchor(attributes);
        break;
      case tags.td:
      case tags.th:
        this.#text.addSpace();
        break;
      case tags.area:
        this.#area(attributes);
        break;
      case tags.img:
        if (this.#anchor !== undefined) this.#anchorText.insert(` ${attributes.get('alt') ?? ''} `);
        break;
      case tags.base:
        this.#base ??= attributes.get('href')?.trim() ?? null;
        return;
      case tags.meta:
        this.#meta(attributes);
        return;
      case tags.html:
        this.#lang ??= attributes.get('lang') ?? attributes.get('xml:lang') ?? null;
        break;
      case tags.time:
        this.#time(attributes);
        break;
      case tags.option:
        this.#option = true;
        break;
      default:
        if (headingLevel[tag] !== 0) {
          this.#heading = headingLevel[tag]!;
          this.#headingText.begin();
        }
    }
    if (!attributes.empty) elementLinks(tag, attributes, this);
  }

  close(tag: number): void {
    if (tag === 0) return;
    if (this.#raw === tag) this.#closeRaw();
    if (this.#template > 0) {
      if (tag === tags.template) this.#template--;
      return;
    }
    if (tag === this.#hiddenTag && --this.#hiddenDepth === 0) this.#hiddenTag = 0;
    if (tag === tags.a) this.#closeAnchor();
    if (isBlock[tag] === 1) this.#break(tag);
    if (isBoilerplate[tag] === 1 && this.#boilerplate > 0) this.#boilerplate--;
    if ((tag === tags.svg || tag === tags.math) && this.#foreign > 0) this.#foreign--;
    if (tag === tags.option || tag === tags.select || tag === tags.datalist) this.#option = false;
  }

  finish(): HtmlFacts {
    if (this.#raw !== 0) this.#closeRaw();
    this.#closeAnchor();
    this.#break(0);
    const language = this.#metas.find((meta) => meta.key === 'content-language')?.content;
    return {
      title: this.#title,
      lang: this.#lang ?? language ?? null,
      base: this.#base,
      metas: this.#metas,
      refresh: this.#refresh,
      links: this.#links,
      headings: this.#headings,
      text: this.#text.finish(),
      jsonLd: this.#jsonLd,
      times: this.#times,
      linksCut: this.#linksCut,
    };
  }

  /** Ends a line of text. Any block ends an option and a heading: their end tags may be missing. */
  #break(tag: number): void {
    if (this.#anchor !== undefined) this.#anchorText.insert(' ');
    if (this.#heading !== 0) this.#headingText.insert(' ');
    this.#text.endBlock(this.#boilerplate > 0, this.#heading);
    if (this.#anchor !== undefined) this.#anchorText.goOn();
    if (tag === tags.br) {
      if (this.#heading !== 0) this.#headingText.goOn();
      return;
    }
    if (this.#heading !== 0) {
      const text = this.#headingText.text;
      if (text !== '' && this.#headings.length < maxHeadings)
        this.#headings.push({level: this.#heading, text: cutText(text, maxShort)});
    }
    this.#heading = 0;
    this.#option = false;
  }

  #openRaw(tag: number, attributes: Attributes): void {
    this.#raw = tag;
    this.#rawText = undefined;
    if (tag === tags.title && this.#title === null && this.#foreign === 0) this.#rawText = '';
    else if (tag === tags.style) this.#rawText = '';
    else if (tag === tags.script && this.#jsonLd.length < maxJsonLd)
      if (/^application\/ld\+json\b/i.test(attributes.get('type')?.trim() ?? '')) this.#rawText = '';
  }

  #closeRaw(): void {
    const text = this.#rawText;
    if (text !== undefined) {
      if (this.#raw === tags.title) this.#title = foldSpace(cutText(text, maxShort));
      else if (this.#raw === tags.script) this.#jsonLd.push(text);
      else if (/url\(|@import/i.test(text))
        for (const href of cssUrls(text))
          if (!leadsNowhere(href)) this.addLink({href, kind: 'css', rel: null, anchor: null});
    }
    this.#raw = 0;
    this.#rawText = undefined;
  }

  #openAnchor(attributes: Attributes): void {
    this.#closeAnchor();
    const link = linkOf(attributes, 'a', null);
    if (link === undefined) return;
    this.#inLink = true;
    if (!this.addLink(link)) return;
    this.#anchor = link;
    this.#anchorText.begin();
  }

  #area(attributes: Attributes): void {
    const link = linkOf(attributes, 'area', attributes.get('alt') ?? null);
    if (link !== undefined) this.addLink(link);
  }

  #closeAnchor(): void {
    this.#inLink = false;
    if (this.#anchor === undefined) return;
    this.#anchorText.take();
    this.#anchor.anchor = cutText(this.#anchorText.text, this.#limits.maxAnchor);
    this.#anchor = undefined;
  }

  addLink(link: RawLink): boolean {
    if (this.#links.length >= this.#limits.maxLinks) {
      this.#linksCut++;
      return false;
    }
    this.#links.push(link);
    return true;
  }

  #meta(attributes: Attributes): void {
    const content = attributes.get('content');
    if (content === undefined) return;
    const pragma = attributes.get('http-equiv')?.trim().toLowerCase();
    if (pragma === 'refresh') {
      this.#refresh ??= parseMetaRefresh(content);
      return;
    }
    const key = (
      attributes.get('name') ??
      attributes.get('property') ??
      attributes.get('itemprop') ??
      pragma ??
      ''
    )
      .trim()
      .toLowerCase();
    if (key !== '' && this.#metas.length < maxMetas)
      this.#metas.push({key, content: cutText(content, maxShort)});
  }

  #time(attributes: Attributes): void {
    const datetime = attributes.get('datetime');
    if (datetime !== undefined && this.#times.length < maxTimes)
      this.#times.push({itemprop: attributes.get('itemprop')?.toLowerCase() ?? '', datetime});
  }
}

function linkOf(attributes: Attributes, kind: 'a' | 'area', anchor: string | null): RawLink | undefined {
  const href = (attributes.get('href') ?? attributes.get('xlink:href'))?.trim();
  if (href === undefined || leadsNowhere(href)) return undefined;
  const rel = attributes.get('rel')?.trim().toLowerCase().replace(/\s+/g, ' ');
  return {href, kind, rel: rel === undefined || rel === '' ? null : rel, anchor};
}

function isHidden(attributes: Attributes): boolean {
  const hidden = attributes.get('hidden');
  if (hidden !== undefined) return hidden.toLowerCase() !== 'until-found';
  const style = attributes.get('style');
  return style !== undefined && /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}
