/** The five of XML; others need a declaration, and declarations are not read. */
const named: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"};

const reference = /&(?:#x([0-9a-f]{1,8})|#(\d{1,9})|([a-z]\w{0,30}));/gi;
const bare = /&(?!#x[0-9a-f]{1,8};|#\d{1,9};|[a-z]\w{0,30};)/i;

/**
 * Text with its references replaced. What is none, and what names nothing, stays as it is written and is reported,
 * bare `&`s once a text: they are the commonest fault of sitemaps.
 *
 * @param onError offset in the text
 * @see XML 1.0, section 4.6
 */
export function decodeEntities(text: string, onError: (offset: number, detail: string) => void): string {
  if (!text.includes('&')) return text;
  const bareAt = text.search(bare);
  if (bareAt >= 0) onError(bareAt, 'a bare &');
  return text.replace(
    reference,
    (whole: string, hex?: string, decimal?: string, entity?: string, offset = 0) => {
      if (entity !== undefined) {
        if (Object.hasOwn(named, entity)) return named[entity]!;
        onError(offset, `unknown entity ${whole}`);
        return whole;
      }
      const digits = hex ?? decimal;
      if (digits === undefined) {
        onError(offset, 'a bare &');
        return whole;
      }
      const codePoint = Number.parseInt(digits, hex === undefined ? 10 : 16);
      if (codePoint === 0 || codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff)) {
        onError(offset, `no character ${whole}`);
        return whole;
      }
      return String.fromCodePoint(codePoint);
    },
  );
}
