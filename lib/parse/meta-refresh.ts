// biome-ignore-all lint/suspicious/noControlCharactersInRegex: patterns over bytes
export interface MetaRefresh {
  /** Whole seconds. */
  readonly seconds: number;
  /** Unresolved target; null: the page itself. */
  readonly url: string | null;
}

/**
 * Reads the `content` of a `meta http-equiv=refresh`, or gives undefined where it is none.
 *
 * @see https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
 */
export function parseMetaRefresh(content: string): MetaRefresh | undefined {
  const time = /^[\t\n\f\r ]*(?:(\d+)[\d.]*|\.[\d.]*)/.exec(content);
  if (time === null) return undefined;
  const seconds = Number(time[1] ?? 0);
  let rest = content.slice(time[0].length);
  if (rest === '') return {seconds, url: null};
  if (!/^[;,\t\n\f\r ]/.test(rest)) return undefined;
  rest = rest.replace(/^[\t\n\f\r ]*[;,]?[\t\n\f\r ]*/, '');
  if (rest === '') return {seconds, url: null};
  const named = /^url[\t\n\f\r ]*=[\t\n\f\r ]*/i.exec(rest);
  if (named !== null) rest = rest.slice(named[0].length);
  const quote = rest[0];
  if (quote === '"' || quote === "'") {
    const end = rest.indexOf(quote, 1);
    rest = end === -1 ? rest.slice(1) : rest.slice(1, end);
  }
  return {seconds, url: rest.replace(/[\t\n\r]/g, '').replace(/[\0- ]+$/, '')};
}
