import {latin1View} from './decode.ts';
import {type Encoding, encodingOf} from './encoding-labels.ts';

/** Bytes in which a declaration is looked for before anything else is tried, as the standard has it. */
const prescanBytes = 1024;

/** How far a late `meta` is looked for. Chosen: whole heads of pages, with their scripts and styles. */
const lateBytes = 512 * 1024;

/**
 * Encoding that a `meta` in the first 1,024 bytes declares.
 *
 * @see https://html.spec.whatwg.org/multipage/parsing.html#prescan-a-byte-stream-to-determine-its-encoding
 */
export function prescanHtml(bytes: Uint8Array): Encoding | undefined {
  return findMeta(latin1View(bytes.subarray(0, prescanBytes)), false);
}

/**
 * Encoding that a `meta` behind them declares: browsers meet it while they build the tree, and start again.
 *
 * @see https://html.spec.whatwg.org/multipage/parsing.html#changing-the-encoding-while-parsing
 */
export function lateMeta(bytes: Uint8Array): Encoding | undefined {
  return findMeta(latin1View(bytes.subarray(0, lateBytes)), true);
}

/** @param tree leave out the content of elements that hold text only, as the tree builder does and the prescan does not */
function findMeta(text: string, tree: boolean): Encoding | undefined {
  if (!/charset/i.test(text)) return undefined;
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('<', at);
    if (open === -1) return undefined;
    if (text.startsWith('<!--', open)) {
      // The two dashes of the opening may be those of the end: `<!-->`.
      const end = text.indexOf('-->', open + 2);
      if (end === -1) return undefined;
      at = end + 3;
    } else if (/^<meta[\t\n\f\r /]/i.test(text.slice(open, open + 6))) {
      const [found, next] = readMeta(text, open + 5);
      if (found !== undefined) return found;
      at = next;
    } else if (/^<\/?[a-z]/i.test(text.slice(open, open + 3))) {
      nameEnd.lastIndex = open + 1;
      const name = nameEnd.exec(text)![0];
      let next = open + 1 + name.length;
      for (;;) {
        const attribute = readAttribute(text, next);
        if (attribute === undefined) break;
        next = attribute.end;
      }
      at = skipTagEnd(text, next);
      if (tree && textOnly.test(name)) {
        const end = new RegExp(`</${name}`, 'gi');
        end.lastIndex = at;
        const match = end.exec(text);
        if (match === null) return undefined;
        at = match.index;
      }
    } else if (/^<[!/?]/.test(text.slice(open, open + 2))) {
      const end = text.indexOf('>', open);
      if (end === -1) return undefined;
      at = end + 1;
    } else at = open + 1;
  }
  return undefined;
}

/** Everything up to the end of a tag's name. */
const nameEnd = /[^\t\n\f\r >]*/y;
const textOnly = /^(?:script|style|title|textarea|xmp|iframe|noembed|noframes)$/i;

/** Position after a tag that ends at `at`, which is its `>` or the end of the text. */
function skipTagEnd(text: string, at: number): number {
  return text[at] === '>' ? at + 1 : Math.max(at, 1);
}

function readMeta(text: string, from: number): [Encoding | undefined, number] {
  let pragma = false;
  let needsPragma: boolean | undefined;
  let charset: Encoding | undefined;
  let unknown = false;
  const seen = new Set<string>();
  let at = from;
  for (;;) {
    const attribute = readAttribute(text, at);
    if (attribute === undefined) break;
    at = attribute.end;
    if (seen.has(attribute.name)) continue;
    seen.add(attribute.name);
    if (attribute.name === 'http-equiv') pragma = attribute.value === 'content-type';
    else if (attribute.name === 'charset') {
      charset = encodingOf(attribute.value);
      unknown = charset === undefined;
      needsPragma = false;
    } else if (attribute.name === 'content' && charset === undefined && !unknown) {
      const label = charsetOfContent(attribute.value);
      const found = label === undefined ? undefined : encodingOf(label);
      if (found !== undefined) {
        charset = found;
        needsPragma = true;
      }
    }
  }
  const next = skipTagEnd(text, at);
  // The tag must end within the bytes that are read, as the standard's algorithm has it.
  if (needsPragma === undefined || charset === undefined) return [undefined, next];
  if (needsPragma && !pragma) return [undefined, next];
  return [asDeclared(charset), next];
}

/** UTF-16 cannot be true where an ASCII declaration was read; x-user-defined in a meta is windows-1252. */
function asDeclared(encoding: Encoding): Encoding {
  if (encoding === 'utf-16be' || encoding === 'utf-16le') return 'utf-8';
  return encoding === 'x-user-defined' ? 'windows-1252' : encoding;
}

interface Attribute {
  readonly name: string;
  readonly value: string;
  readonly end: number;
}

/** The standard's "get an attribute"; undefined at the end of the tag or of the text. */
function readAttribute(text: string, from: number): Attribute | undefined {
  let at = skip(beforeName, text, from);
  if (at >= text.length || text[at] === '>') return undefined;
  const nameStart = at;
  at = skip(inName, text, at);
  const name = text.slice(nameStart, at).toLowerCase();
  at = skip(space, text, at);
  if (text[at] !== '=') return {name, value: '', end: at};
  at = skip(space, text, at + 1);
  const quote = text[at];
  if (quote === '"' || quote === "'") {
    const end = text.indexOf(quote, at + 1);
    // A value that does not end in the bytes read is no value.
    if (end === -1) return undefined;
    return {name, value: text.slice(at + 1, end).toLowerCase(), end: end + 1};
  }
  const end = skip(inValue, text, at);
  return {name, value: text.slice(at, end).toLowerCase(), end};
}

const space = /[\t\n\f\r ]*/y;
const beforeName = /[\t\n\f\r /]*/y;
/** A name may begin with `=`. */
const inName = /=?[^\t\n\f\r />=]*/y;
const inValue = /[^\t\n\f\r >]*/y;

/** Position behind what the sticky pattern matches at `at`. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return pattern.lastIndex;
}

/**
 * Charset in the `content` of a `meta http-equiv=content-type`.
 *
 * @see https://html.spec.whatwg.org/multipage/urls-and-fetching.html#extracting-character-encodings-from-meta-elements
 */
export function charsetOfContent(content: string): string | undefined {
  const match =
    /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))/i.exec(content);
  return match?.[1] ?? match?.[2] ?? match?.[3];
}

/**
 * Encoding of an XML declaration, also one written in UTF-16 without a byte order mark.
 *
 * @see XML 1.0, appendix F; https://html.spec.whatwg.org/multipage/parsing.html (step for `<?x`)
 */
export function prescanXml(bytes: Uint8Array): Encoding | undefined {
  if (bytes[0] === 0x3c && bytes[1] === 0 && bytes[2] === 0x3f && bytes[3] === 0) return 'utf-16le';
  if (bytes[0] === 0 && bytes[1] === 0x3c && bytes[2] === 0 && bytes[3] === 0x3f) return 'utf-16be';
  const text = latin1View(bytes.subarray(0, prescanBytes));
  const declaration = /^\s*<\?xml\s([^>]*)>/.exec(text)?.[1];
  if (declaration === undefined) return undefined;
  const label = /encoding\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(declaration);
  const encoding = encodingOf(label?.[1] ?? label?.[2] ?? '');
  return encoding === undefined ? undefined : asDeclared(encoding);
}
