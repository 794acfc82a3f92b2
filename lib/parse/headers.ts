/**
 * Header fields of an answer, from its bytes as received: name in lower case to its values, in order.
 * Values are latin1; folded lines are joined by a space (RFC 9112, 5.2).
 */
export function headerFields(header: Uint8Array | null): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  if (header === null) return fields;
  const text = Buffer.from(header.buffer, header.byteOffset, header.byteLength).toString('latin1');
  const lines = text.replace(/\r?\n[\t ]+/g, ' ').split(/\r?\n/);
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const values = fields.get(name);
    const value = line.slice(colon + 1).trim();
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}

/** A link of a Link header. */
export interface HeaderLink {
  readonly href: string;
  readonly rel: string;
  readonly type: string | undefined;
  readonly as: string | undefined;
  readonly hreflang: string | undefined;
}

/** Links of Link headers; what cannot be read is left out. @see RFC 8288, section 3 */
export function headerLinks(values: readonly string[]): HeaderLink[] {
  const links: HeaderLink[] = [];
  for (const value of values) {
    const link = /<([^<>]*)>((?:\s*;\s*[\w!#$%&'*+.^`|~-]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
    for (const match of value.matchAll(link)) {
      const rel = parameter(match[2]!, 'rel');
      if (rel === undefined) continue;
      const type = parameter(match[2]!, 'type');
      const as = parameter(match[2]!, 'as');
      const hreflang = parameter(match[2]!, 'hreflang');
      links.push({href: match[1]!.trim(), rel: rel.toLowerCase(), type, as, hreflang});
    }
  }
  return links;
}

function parameter(text: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;,"]*))`, 'i').exec(text);
  return match?.[1] ?? match?.[2];
}
