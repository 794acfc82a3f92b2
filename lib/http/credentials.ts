/**
 * Headers that prove who we are, by origin. They go to that very origin and nowhere else: not to another host, port or
 * scheme, nor after a redirect there. What is recorded of a request has them masked.
 */
export type Credentials = ReadonlyMap<string, readonly (readonly [name: string, value: string])[]>;

/** What stands in place of a secret. */
export const mask = '***';

/**
 * A request's header as it may be stored.
 *
 * @param header request line and headers as sent, decoded as latin1
 * @param names of the headers that hold secrets, in any case
 */
export function maskHeaders(header: string, names: readonly string[]): string {
  if (names.length === 0) return header;
  const secret = new Set(names.map((name) => name.toLowerCase()));
  return header
    .split('\r\n')
    .map((line) => {
      const colon = line.indexOf(':');
      return secret.has(line.slice(0, Math.max(0, colon)).toLowerCase())
        ? `${line.slice(0, colon)}: ${mask}`
        : line;
    })
    .join('\r\n');
}
