/**
 * Content types: what the header says, and what the first bytes say.
 *
 * @see https://mimesniff.spec.whatwg.org/ and https://fetch.spec.whatwg.org/#content-type-header
 */
export interface ContentType {
  /** Type and subtype, lower case. */
  readonly essence: string;
  /** Value of the charset parameter, as written. */
  readonly charset?: string;
}

/** Content type in force where these header lines came, in order; undefined where none is valid. */
export function contentTypeOf(headers: readonly string[]): ContentType | undefined {
  let essence: string | undefined;
  let charset: string | undefined;
  for (const value of splitHeader(headers.join(', '))) {
    const type = parseMimeType(value);
    if (type === undefined || type.essence === '*/*') continue;
    if (type.essence !== essence) {
      charset = undefined;
      essence = type.essence;
    }
    // A later value of the same type without charset keeps the earlier one.
    charset = type.charset ?? charset;
  }
  if (essence === undefined) return undefined;
  return charset === undefined ? {essence} : {essence, charset};
}

/** Fetch: "get, decode, and split": commas in quoted strings do not split. */
function splitHeader(value: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < value.length; at++) {
    const character = value[at];
    if (quoted && character === '\\') at++;
    else if (character === '"') quoted = !quoted;
    else if (character === ',' && !quoted) {
      parts.push(value.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(value.slice(start));
  return parts;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** @see https://mimesniff.spec.whatwg.org/#parsing-a-mime-type */
export function parseMimeType(input: string): ContentType | undefined {
  const text = input.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  const end = text.indexOf(';');
  const essence = (end === -1 ? text : text.slice(0, end)).replace(/[\t\n\r ]+$/, '');
  const slash = essence.indexOf('/');
  if (slash <= 0 || !token.test(essence.slice(0, slash)) || !token.test(essence.slice(slash + 1)))
    return undefined;
  const charset = end === -1 ? undefined : charsetParameter(text, end);
  const lower = essence.toLowerCase();
  return charset === undefined ? {essence: lower} : {essence: lower, charset};
}

function charsetParameter(text: string, from: number): string | undefined {
  let at = from;
  while (at < text.length) {
    at++;
    while (at < text.length && /[\t\n\r ]/.test(text[at]!)) at++;
    const nameStart = at;
    while (at < text.length && text[at] !== ';' && text[at] !== '=') at++;
    const name = text.slice(nameStart, at).toLowerCase();
    if (text[at] !== '=') continue;
    at++;
    let value: string;
    if (text[at] === '"') {
      value = '';
      for (at++; at < text.length && text[at] !== '"'; at++) {
        if (text[at] === '\\' && at + 1 < text.length) at++;
        value += text[at]!;
      }
      while (at < text.length && text[at] !== ';') at++;
    } else {
      const start = at;
      while (at < text.length && text[at] !== ';') at++;
      value = text.slice(start, at).replace(/[\t\n\r ]+$/, '');
      if (value === '') continue;
    }
    if (name === 'charset' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return value;
  }
  return undefined;
}
