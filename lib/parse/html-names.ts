/**
 * Names of elements and attributes that the reader of HTML knows, as small numbers: they are looked up for every tag,
 * straight from the view of the page, without making strings.
 */
export const tagNames = [
  'a',
  'abbr',
  'address',
  'applet',
  'area',
  'article',
  'aside',
  'audio',
  'b',
  'base',
  'blockquote',
  'body',
  'br',
  'button',
  'canvas',
  'caption',
  'center',
  'cite',
  'code',
  'col',
  'datalist',
  'dd',
  'desc',
  'details',
  'dialog',
  'dir',
  'div',
  'dl',
  'dt',
  'em',
  'embed',
  'fieldset',
  'figcaption',
  'figure',
  'font',
  'footer',
  'form',
  'frame',
  'frameset',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'head',
  'header',
  'hgroup',
  'hr',
  'html',
  'i',
  'iframe',
  'image',
  'img',
  'input',
  'label',
  'legend',
  'li',
  'link',
  'main',
  'math',
  'menu',
  'meta',
  'nav',
  'noembed',
  'noframes',
  'noscript',
  'object',
  'ol',
  'optgroup',
  'option',
  'p',
  'param',
  'picture',
  'plaintext',
  'pre',
  'script',
  'search',
  'section',
  'select',
  'source',
  'span',
  'strong',
  'style',
  'sub',
  'summary',
  'sup',
  'svg',
  'table',
  'tbody',
  'td',
  'template',
  'textarea',
  'tfoot',
  'th',
  'thead',
  'time',
  'title',
  'tr',
  'track',
  'tt',
  'u',
  'ul',
  'use',
  'video',
  'wbr',
  'xmp',
] as const;
export type TagName = (typeof tagNames)[number];

export const attributeNames = [
  'action',
  'alt',
  'as',
  'background',
  'charset',
  'content',
  'data',
  'data-src',
  'data-srcset',
  'datetime',
  'formaction',
  'hidden',
  'href',
  'hreflang',
  'http-equiv',
  'itemprop',
  'lang',
  'name',
  'poster',
  'property',
  'rel',
  'shadowrootmode',
  'src',
  'srcset',
  'style',
  'type',
  'xlink:href',
  'xml:lang',
] as const;
export type AttributeName = (typeof attributeNames)[number];

/** A closed list of ASCII names, found in a text by position, letter case aside. */
export class NameTable<N extends string> {
  readonly #buckets: (readonly {readonly name: N; readonly id: number}[])[];

  constructor(names: readonly N[]) {
    const buckets = Array.from({length: 256}, (): {name: N; id: number}[] => []);
    for (const [index, name] of names.entries())
      buckets[NameTable.#hash(name, 0, name.length)]!.push({name, id: index + 1});
    this.#buckets = buckets;
  }

  static #hash(text: string, start: number, end: number): number {
    const first = text.charCodeAt(start) | 32;
    const second = end - start > 1 ? text.charCodeAt(start + 1) | 32 : 0;
    const last = text.charCodeAt(end - 1) | 32;
    return (first * 5 + second * 11 + last * 31 + (end - start) * 73) & 255;
  }

  /** Number of the name at [start, end): its place in the list from 1, or 0 for any other. */
  find(text: string, start: number, end: number): number {
    const length = end - start;
    if (length === 0) return 0;
    for (const {name, id} of this.#buckets[NameTable.#hash(text, start, end)]!) {
      if (name.length !== length) continue;
      let at = 0;
      // ASCII letters differ from their lower case in this bit only; digits, `-` and `:` have it.
      while (at < length && (text.charCodeAt(start + at) | 32) === name.charCodeAt(at)) at++;
      if (at === length) return id;
    }
    return 0;
  }
}

function numbers<N extends string>(names: readonly N[]): Readonly<Record<N, number>> {
  return Object.fromEntries(names.map((name, index) => [name, index + 1])) as Record<N, number>;
}

/** Numbers by name; 0 stands for every other name. */
export const tags = numbers(tagNames);
export const attributes = numbers(attributeNames);
export const tagTable = new NameTable<string>(tagNames);
export const attributeTable = new NameTable<string>(attributeNames);

/** Flags by tag number. */
export function flags(names: readonly TagName[]): Uint8Array {
  const set = new Uint8Array(tagNames.length + 1);
  for (const name of names) set[tags[name]] = 1;
  return set;
}

/** Elements that begin a new line of text. */
export const isBlock = flags([
  'address',
  'article',
  'aside',
  'blockquote',
  'body',
  'br',
  'caption',
  'center',
  'dd',
  'details',
  'dialog',
  'dir',
  'div',
  'dl',
  'dt',
  'fieldset',
  'figcaption',
  'figure',
  'footer',
  'form',
  'frameset',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'head',
  'header',
  'hgroup',
  'hr',
  'html',
  'legend',
  'li',
  'main',
  'menu',
  'nav',
  'ol',
  'optgroup',
  'option',
  'p',
  'plaintext',
  'pre',
  'search',
  'section',
  'select',
  'summary',
  'table',
  'tbody',
  'tfoot',
  'thead',
  'title',
  'tr',
  'ul',
  'xmp',
]);

/** Elements that are always closed by their own end tag, so that one which hides its content can be followed to its end. */
export const isBalanced = flags([
  'a',
  'article',
  'aside',
  'div',
  'dl',
  'fieldset',
  'figure',
  'footer',
  'form',
  'header',
  'main',
  'menu',
  'nav',
  'ol',
  'section',
  'span',
  'table',
  'template',
  'ul',
]);

/** Elements whose content is not text of the page, though the tokenizer gives it as text. */
export const isSilent = flags(['script', 'style', 'textarea', 'iframe', 'noembed', 'noframes', 'title']);

/** Elements that set their content apart from the main text. */
export const isBoilerplate = flags(['nav', 'aside', 'footer', 'form', 'menu', 'button']);

/** Heading level by tag number, 0 for other elements. */
export const headingLevel = new Uint8Array(tagNames.length + 1);
for (const [index, name] of (['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const).entries())
  headingLevel[tags[name]] = index + 1;
