/**
 * URLs of a style sheet or style attribute: `url(…)` and `@import "…"`, comments left out, escapes undone.
 * One pass over the text: an escape outside a string is a token of its own, so that no quote in it begins a string.
 *
 * @see https://www.w3.org/TR/css-syntax-3/#consume-url-token
 */
export function cssUrls(css: string): string[] {
  const urls: string[] = [];
  const token =
    /\/\*[\s\S]*?(?:\*\/|$)|@import\s+(?:"([^"\\\n]*(?:\\[\s\S][^"\\\n]*)*)"|'([^'\\\n]*(?:\\[\s\S][^'\\\n]*)*)')|\burl\(\s*(?:"([^"\\\n]*(?:\\[\s\S][^"\\\n]*)*)"|'([^'\\\n]*(?:\\[\s\S][^'\\\n]*)*)'|([^"'()\\\s]*(?:\\(?:[0-9a-f]{1,6}\s?|[\s\S])[^"'()\\\s]*)*))|"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"|'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'|\\[\s\S]/gi;
  for (const match of css.matchAll(token)) {
    const url = match[1] ?? match[2] ?? match[3] ?? match[4] ?? match[5];
    if (url !== undefined && url !== '') urls.push(unescapeCss(url));
  }
  return urls;
}

function unescapeCss(text: string): string {
  if (!text.includes('\\')) return text.trim();
  return text
    .replace(
      /\\(?:([0-9a-fA-F]{1,6})\s?|\r?\n|([\s\S]))/g,
      (_, hex: string | undefined, other: string | undefined) => {
        if (hex === undefined) return other ?? '';
        const code = Number.parseInt(hex, 16);
        return code === 0 || code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
      },
    )
    .trim();
}
