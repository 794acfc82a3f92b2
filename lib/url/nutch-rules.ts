/**
 * Nutch's regex-normalize.xml, as rules: each `<regex>` holds a `<pattern>` and a `<substitution>`, in Java's
 * syntax, which RE2 shares but for back-references and look-around.
 */
export interface NutchReplacement {
  readonly pattern: string;
  readonly substitution: string;
  /** Line of `<regex>`, from 1. */
  readonly line: number;
}

export function isNutchRules(text: string): boolean {
  return /^\s*</.test(text) && text.includes('<regex-normalize');
}

/** The rules in order. `pattern` is undefined where an element is missing or not closed. */
export function nutchReplacements(
  text: string,
): readonly (NutchReplacement | {readonly line: number; readonly pattern: undefined})[] {
  const found: (NutchReplacement | {line: number; pattern: undefined})[] = [];
  // Comments become spaces, so that lines stay where they are.
  const plain = blankComments(text);
  let line = 1;
  let counted = 0;
  for (let at = plain.indexOf('<regex>'); at >= 0; ) {
    for (; counted < at; counted++) if (plain.charCodeAt(counted) === 10) line++;
    const end = plain.indexOf('</regex>', at);
    const body = end < 0 ? undefined : plain.slice(at + '<regex>'.length, end);
    const pattern = body === undefined ? undefined : element(body, 'pattern');
    const substitution = body === undefined ? undefined : element(body, 'substitution');
    found.push(
      pattern === undefined || substitution === undefined
        ? {line, pattern: undefined}
        : {pattern, substitution, line},
    );
    if (end < 0) break;
    at = plain.indexOf('<regex>', end);
  }
  return found;
}

function blankComments(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf('<!--', from);
    const end = start < 0 ? -1 : text.indexOf('-->', start + 4);
    if (end < 0) break;
    parts.push(text.slice(from, start), text.slice(start, end + 3).replace(/[^\n]/g, ' '));
    from = end + 3;
  }
  return parts.join('') + text.slice(from);
}

/** Text of an element, its entities decoded; undefined where there is none. */
function element(body: string, name: string): string | undefined {
  if (body.includes(`<${name}/>`)) return '';
  const start = body.indexOf(`<${name}>`);
  const end = start < 0 ? -1 : body.indexOf(`</${name}>`, start);
  if (end < 0) return undefined;
  return decodeEntities(body.slice(start + name.length + 2, end).trim());
}

const named: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"};

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g,
    (whole, decimal, hex, name) => {
      if (typeof name === 'string') return named[name] ?? whole;
      const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
