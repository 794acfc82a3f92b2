import {compile, selectAll, selectOne} from 'css-select';
import {DomHandler, Parser} from 'htmlparser2';
import {isBlock, tagTable} from '../parse/html-names.ts';
import type {Document, Element, MarkupEvents, Node} from './nodes.ts';

/** Trees and selectors for extractors: htmlparser2 with its own family, as fast as trees get in JavaScript. */

/**
 * Most elements in each other; a page with more is an error. The parser takes time by the square of it (200,000 took
 * 41 s, 2026-11); browsers stop at 512.
 */
const maxDepth = 5000;

class BoundedHandler extends DomHandler {
  override onopentag(name: string, attributes: Record<string, string>): void {
    checkDepth(this.tagStack.length);
    super.onopentag(name, attributes);
  }
}

function checkDepth(depth: number): void {
  if (depth > maxDepth) throw new Error(`more than ${maxDepth} elements in each other`);
}

/** @param xml names keep their case, and `<a/>` is closed */
export function readTree(markup: string, xml: boolean): Document {
  const handler = new BoundedHandler();
  new Parser(handler, {xmlMode: xml}).end(markup);
  return handler.root as unknown as Document; // ours is a view of domhandler's, for reading
}

/** The same markup, event by event. */
export function readEvents(markup: string, xml: boolean, events: MarkupEvents): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        checkDepth(++depth);
        events.open?.(name, attributes);
      },
      onclosetag(name) {
        depth--;
        events.close?.(name);
      },
      ontext: (piece) => events.text?.(piece),
      oncomment: (text) => events.comment?.(text),
    },
    {xmlMode: xml},
  );
  parser.end(markup);
}

type Compiled = ReturnType<typeof compile<Node, Element>>;

/** Selectors that were compiled. Chosen: more than any extractor has; one that makes them up starts anew. */
const maxCompiled = 1000;
const compiled = {html: new Map<string, Compiled>(), xml: new Map<string, Compiled>()};

/** Elements below a node, not itself, that a selector matches, in the order of the document. Throws for a selector that is none. */
export function select(selector: string, within: Document | Element, xml: boolean): Element[] {
  if (relative.test(selector)) return selectAll<Node, Element>(selector, within as Element, {xmlMode: xml});
  return selectAll<Node, Element>(compiledOf(selector, xml), within as Element, {xmlMode: xml});
}

/** The first of them, or null. */
export function selectFirst(selector: string, within: Document | Element, xml: boolean): Element | null {
  if (relative.test(selector)) return selectOne<Node, Element>(selector, within as Element, {xmlMode: xml});
  return selectOne<Node, Element>(compiledOf(selector, xml), within as Element, {xmlMode: xml});
}

/** What is wrong with a selector; undefined if nothing is. */
export function selectorProblem(selector: string): string | undefined {
  try {
    compile<Node, Element>(selector);
    return undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return text.replace(/found\s*$/, 'found its end');
  }
}

/** Selectors that mean another thing for each element they start from. */
const relative = /:scope|^\s*[>+~]|,\s*[>+~]/;

function compiledOf(selector: string, xml: boolean): Compiled {
  const known = xml ? compiled.xml : compiled.html;
  let found = known.get(selector);
  if (found === undefined) {
    if (known.size >= maxCompiled) known.clear();
    found = compile<Node, Element>(selector, {xmlMode: xml});
    known.set(selector, found);
  }
  return found;
}

/** Elements whose text nobody reads. */
const unread: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noembed', 'noframes']);

/** Text of a node as a person reads it: blocks and line breaks part words, white space is folded. */
export function textOf(node: Document | Node): string {
  let text = '';
  const stack: (Document | Node | ' ')[] = [node];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next === ' ') text += ' ';
    else if (next.type === 'text') text += next.data;
    else if (next.type !== 'comment' && next.type !== 'directive') {
      const name = 'name' in next ? next.name : '';
      if (next !== node && unread.has(name)) continue;
      const parts = name === 'br' || name === 'td' || name === 'th' || isBlockName(name);
      if (parts) {
        text += ' ';
        stack.push(' ');
      }
      const {children} = next;
      for (let at = (children?.length ?? 0) - 1; at >= 0; at--) stack.push(children![at]!);
    }
  }
  return text.replace(/[\t\n\f\r \u00a0]+/g, ' ').trim();
}

function isBlockName(name: string): boolean {
  return name !== '' && isBlock[tagTable.find(name, 0, name.length)] === 1;
}
