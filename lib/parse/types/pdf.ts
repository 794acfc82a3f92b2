import type {Document, DocumentInput, DocumentType} from '../document.ts';
import {foldSpace, TextBlocks} from '../html-text.ts';
import {leadsNowhere, type RawLink} from '../links.ts';
import {type ReadPdf, readPdf} from '../pdf.ts';

/** PDF: text by paragraphs, title, dates and links; URLs that only stand in the text are recorded as such. */
export const pdf: DocumentType = {
  types: ['application/pdf', 'application/x-pdf'],
  parse(input: DocumentInput): Document {
    const {limits} = input;
    const {maxText, maxLinks, pdf: bounds = usualBounds} = limits;
    const found = readPdf(input.bytes, {...bounds, maxText, maxLinks});
    const {facts, failure} = found;
    if (failure !== undefined && found.pages.length === 0) return {links: [], failure};
    const blocks = new TextBlocks(limits.maxText);
    for (const page of found.pages)
      for (const paragraph of paragraphs(page.text)) {
        blocks.addText(paragraph, false);
        blocks.endBlock(false, 0);
      }
    const text = blocks.finish();
    const {links, linksCut} = linksOf(found, limits);
    const errors = [
      ...(failure === undefined ? [] : [`${failure.detail}, at page ${found.pages.length + 1}`]),
      ...(text.cut ? [`text: cut to ${limits.maxText} characters`] : []),
      ...(found.cut ? [`pages: ${found.pages.length} of ${facts?.pages ?? '?'} read`] : []),
    ];
    return {
      title: facts?.title == null ? null : foldSpace(facts.title),
      description: facts?.subject ?? null,
      lang: facts?.lang ?? null,
      published: pdfDate(facts?.created ?? null),
      modified: pdfDate(facts?.modified ?? null),
      text,
      links,
      linksCut,
      errors,
    };
  },
};

/** For callers without settings. */
const usualBounds = {timeMs: 10_000, memory: 256 * 2 ** 20};

/** A line that is shorter than this share of a page's longer lines ends its paragraph. Chosen by looking at papers. */
const shortLine = 0.65;

/**
 * Lines of a page as paragraphs. PDF has no paragraphs, only places; its lines are as wide as the column, except the
 * last of a paragraph. A hyphen that the page's maker put at the end of a line is told by PDFium, and goes.
 */
export function paragraphs(text: string): string[] {
  const lines = text
    .replaceAll('\u0002', softHyphen)
    .split(/\r\n?|\n/)
    .map((line) => line.trim());
  const lengths = lines.map((line) => line.length).sort((a, b) => a - b);
  const usual = lengths[Math.floor(lengths.length * 0.8)] ?? 0;
  const found: string[] = [];
  let paragraph = '';
  for (const line of lines) {
    if (line !== '') paragraph = paragraph === '' ? line : joined(paragraph, line);
    if (line.length >= usual * shortLine && line !== '') continue;
    if (paragraph !== '') found.push(paragraph.replaceAll(softHyphen, ''));
    paragraph = '';
  }
  if (paragraph !== '') found.push(paragraph.replaceAll(softHyphen, ''));
  return found;
}

/** What PDFium gives for a hyphen at the end of a line; older ones U+0002. */
const softHyphen = '\ufffe';

function joined(paragraph: string, line: string): string {
  return paragraph.endsWith(softHyphen) ? paragraph.slice(0, -1) + line : `${paragraph} ${line}`;
}

function linksOf(
  {pages}: ReadPdf,
  limits: {readonly maxLinks: number; readonly maxAnchor: number},
): {links: RawLink[]; linksCut: number} {
  const links: RawLink[] = [];
  let linksCut = 0;
  for (const page of pages) {
    const clickable = new Set(page.links.flatMap(({href, anchor}) => (anchor === null ? [] : [href])));
    for (const {href, anchor} of page.links) {
      const trimmed = href.trim();
      if (leadsNowhere(trimmed) || (anchor === null && clickable.has(href))) continue;
      if (links.length >= limits.maxLinks) {
        linksCut++;
        continue;
      }
      const text =
        anchor === null ? null : foldSpace(anchor.replaceAll(softHyphen, '')).slice(0, limits.maxAnchor);
      links.push({href: trimmed, kind: anchor === null ? 'text' : 'pdf', rel: null, anchor: text});
    }
  }
  return {links, linksCut};
}

/** A date as PDF writes it: `D:20260102030405+01'00'`, from the year on all parts may be absent. @see ISO 32000-2, 7.9.4 */
export function pdfDate(text: string | null): Date | null {
  const parts = /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?/.exec(
    text ?? '',
  );
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const local = Date.UTC(year!, (month || 1) - 1, day || 1, hour, minute, second);
  const offset = (Number(parts[8] ?? 0) * 60 + Number(parts[9] ?? 0)) * 60_000;
  const time = parts[7] === '-' ? local + offset : local - offset;
  return year === 0 || Number.isNaN(time) ? null : new Date(time);
}
