/**
 * The same text in memory of its own. A slice of a string keeps the whole string alive; what is remembered for
 * long (a host out of a URL, a name out of a query) must not.
 */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
