import {TextPosition} from './text-position.ts';
import {decodeEntities} from './xml-entities.ts';

/**
 * XML events from text, as far as it goes: what is not well-formed is reported with its place, and reading
 * goes on behind it in the way that loses least. A bare `&` is a character, an unknown end tag is nothing, an
 * end tag ends what is open inside, an attribute without its quote ends with its tag.
 *
 * Declared entities are not known, so nothing can grow. Time is linear in the text: each search for an end
 * either finds it near, or is made once (docs/decisions/0033).
 */
export interface XmlHandler {
  open(element: XmlElement): void;
  /** Character data, CDATA too; in any number of pieces. */
  text(text: string): void;
  close(): void;
  /** Asked now and then; true ends the reading. */
  readonly done: boolean;
}

export interface XmlElement {
  /** Prefix in lower case, or empty. Namespaces are not resolved: sitemaps often name the wrong ones. */
  readonly prefix: string;
  /** Local name in lower case. */
  readonly name: string;
  /** By name in lower case, with prefix; at most {@link maxAttributes}. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly position: Position;
}

/** Both from 1, in characters of the decoded text. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Deeper elements end the reading: each open one costs memory. Chosen: real ones have fewer than 20. */
const maxDepth = 200;
/** Chosen: real elements have fewer than 20. */
const maxAttributes = 100;

/** Never stand in themselves: a second one ends the first, whose end tag was forgotten. */
const entries = new Set(['url', 'sitemap', 'loc', 'item', 'entry']);

const name = /[^\s/>=<"'&]+/y;
const spaces = /\s*/y;

export function readXml(
  text: string,
  handler: XmlHandler,
  onError: (position: Position, detail: string) => void,
): void {
  const places = new TextPosition(text);
  const open: string[] = [];
  let at = 0;
  let roots = 0;
  /** Searches that found nothing need not be made again. */
  let noInstructionEnd = false;
  let nextLess = -1;

  /** Offsets must not go down; where one comes back to a place, it keeps its position. */
  const error = (offset: number, detail: string) => onError(places.at(offset), detail);

  /** Where the next `<` at or after `from` is; found once, however often it is asked. */
  const lessAfter = (from: number): number => {
    if (nextLess < from) {
      nextLess = text.indexOf('<', from);
      if (nextLess < 0) nextLess = text.length;
    }
    return nextLess;
  };

  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };

  const characters = (from: number, to: number) => {
    if (from >= to) return;
    const raw = text.slice(from, to);
    if (open.length > 0) {
      handler.text(decodeEntities(raw, (offset, detail) => error(from + offset, detail)));
    } else {
      const stray = raw.search(/\S/);
      if (stray >= 0) error(from + stray, 'text outside the root element');
    }
  };

  /** Behind `end`, or the end of the text with an error. */
  const skipPast = (end: string, from: number, what: string): number => {
    const found = text.indexOf(end, from);
    if (found >= 0) return found + end.length;
    error(at, `${what} is not closed`);
    return text.length;
  };

  const closeTag = () => {
    const start = places.at(at);
    at += 2;
    const closing = match(name);
    match(spaces);
    if (text[at] === '>') at++;
    else error(at, `the end tag of ${closing} is not closed`);
    const depth = open.lastIndexOf(closing);
    if (depth < 0) {
      onError(start, `unmatched end tag ${closing}`);
      return;
    }
    closeDownTo(depth, start, false);
  };

  /** Closes elements until `depth` are open; the last of them is at fault only if its end tag is missing too. */
  const closeDownTo = (depth: number, position: Position, isMissing: boolean) => {
    while (open.length > depth) {
      const closed = open.pop()!;
      if (open.length > depth || isMissing) onError(position, `${closed} is not closed`);
      handler.close();
    }
  };

  /** @returns the value of an attribute; `at` is behind it */
  const attributeValue = (attribute: string): string => {
    const quote = text[at];
    let from = at;
    let to: number;
    if (quote === '"' || quote === "'") {
      from = at + 1;
      const less = lessAfter(from);
      to = text.indexOf(quote, from);
      if (to < 0 || to > less) {
        error(at, `the value of ${attribute} is not closed`);
        const greater = text.slice(from, less).indexOf('>');
        to = greater < 0 ? less : from + greater;
        at = to;
      } else {
        at = to + 1;
      }
    } else {
      error(at, `the value of ${attribute} is not quoted`);
      unquoted.lastIndex = at;
      to = at + (unquoted.exec(text)?.[0].length ?? 0);
      at = to;
    }
    return decodeEntities(text.slice(from, to), (offset, detail) => error(from + offset, detail));
  };

  const openTag = () => {
    const start = places.at(at);
    at++;
    const tag = match(name);
    const attributes: Record<string, string> = {};
    let count = 0;
    let selfClosing = false;
    for (;;) {
      match(spaces);
      const c = text[at];
      if (c === '>') {
        at++;
        break;
      }
      if (c === '/' && text[at + 1] === '>') {
        selfClosing = true;
        at += 2;
        break;
      }
      if (c === undefined || c === '<') {
        onError(start, `the tag ${tag} is not closed`);
        break;
      }
      const attribute = match(name);
      if (attribute === '') {
        error(at, `unexpected ${c}`);
        at++;
        continue;
      }
      match(spaces);
      let value = '';
      if (text[at] === '=') {
        at++;
        match(spaces);
        value = attributeValue(attribute);
      } else {
        error(at, `${attribute} has no value`);
      }
      const key = attribute.toLowerCase();
      if (count++ < maxAttributes && key !== '__proto__') attributes[key] ??= value;
    }
    if (entries.has(tag) && open.includes(tag)) closeDownTo(open.lastIndexOf(tag), start, true);
    if (open.length === 0 && roots++ > 0) onError(start, 'a second root element');
    open.push(tag);
    const colon = tag.indexOf(':');
    handler.open({
      prefix: colon < 0 ? '' : tag.slice(0, colon).toLowerCase(),
      name: tag.slice(colon + 1).toLowerCase(),
      attributes,
      position: start,
    });
    if (selfClosing) {
      open.pop();
      handler.close();
    }
  };

  while (at < text.length && !handler.done) {
    const less = lessAfter(at);
    characters(at, less);
    at = less;
    if (at === text.length) break;
    const next = text[at + 1];
    if (next === '/') {
      closeTag();
    } else if (next === '!') {
      if (text.startsWith('<![CDATA[', at)) {
        const from = at + 9;
        const end = skipPast(']]>', from, 'a CDATA section');
        const to = text.startsWith(']]>', end - 3) && end - 3 >= from ? end - 3 : end;
        if (open.length > 0) handler.text(text.slice(from, to));
        at = end;
      } else if (text.startsWith('<!--', at)) {
        at = skipPast('-->', at + 4, 'a comment');
      } else {
        const end = declarationEnd(text, at);
        if (end < 0) error(at, 'a declaration is not closed');
        at = end < 0 ? text.length : end;
      }
    } else if (next === '?') {
      const end = noInstructionEnd ? -1 : text.indexOf('?>', at);
      if (end < 0) {
        noInstructionEnd = true;
        error(at, 'a processing instruction is not closed');
        at += 2;
      } else {
        at = end + 2;
      }
    } else if (next === undefined || /[\s<>="'&]/.test(next)) {
      error(at, 'a bare <');
      at++;
      if (open.length > 0) handler.text('<');
    } else {
      if (open.length >= maxDepth) {
        error(at, `elements nested deeper than ${maxDepth}`);
        break;
      }
      openTag();
    }
  }
  if (!handler.done) {
    if (roots === 0) error(text.length, 'no root element');
    for (const left of open.reverse()) error(text.length, `${left} is not closed`);
  }
}

const unquoted = /[^\s<>]*/y;

/** Behind a `<!DOCTYPE …>`, its internal subset skipped: quotes and brackets are respected. -1: it has no end. */
function declarationEnd(text: string, start: number): number {
  let quote = '';
  let inSubset = false;
  for (let i = start; i < text.length; i++) {
    const c = text[i]!;
    if (quote !== '') {
      if (c === quote) quote = '';
    } else if (c === '"' || c === "'") quote = c;
    else if (c === '[') inSubset = true;
    else if (c === ']') inSubset = false;
    else if (c === '>' && !inSubset) return i + 1;
  }
  return -1;
}
