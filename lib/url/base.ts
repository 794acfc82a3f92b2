import {parseUrl} from './parse.ts';

/** A base URL taken apart once, for all links of a page. */
export interface ParsedBase {
  /** Undefined where the base is no URL: then only absolute links are URLs. */
  readonly url: URL | undefined;
  /** Of http and https only: scheme, host and port, without userinfo. */
  readonly origin: string | undefined;
  /** With its colon. */
  readonly scheme: string;
  /** The path up to its last slash. */
  readonly directory: string;
  readonly path: string;
  /** The base itself, without userinfo and fragment. */
  readonly withoutFragment: string;
}

/** Longest text that is parsed at all. Chosen: 64 times the longest URL that servers usually take. */
export const maxInput = 131_072;

export function parseBase(base: string): ParsedBase {
  const url = base.length <= maxInput ? parseUrl(base) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return {url, origin: undefined, scheme: '', directory: '', path: '', withoutFragment: ''};
  const {origin, pathname, search} = url;
  return {
    url,
    origin,
    scheme: url.protocol,
    directory: pathname.slice(0, pathname.lastIndexOf('/') + 1),
    path: pathname,
    withoutFragment: origin + pathname + search,
  };
}
