import {hostOf} from '../url/host.ts';

/** A normalized URL in the parts that rules look at. */
export interface Target {
  readonly url: string;
  /** Without colon. */
  readonly scheme: string;
  readonly host: string;
  /** Begins with `/`, or is empty. */
  readonly path: string;
  /** Without `?`; empty where there is none. */
  readonly query: string;
  /** Links from the seed; 0 for a seed. */
  readonly depth: number;
}

export function targetOf(url: string, depth: number): Target {
  const colon = url.indexOf(':');
  const scheme = colon < 0 ? '' : url.slice(0, colon);
  let start = colon + 1;
  let host = '';
  if (url.startsWith('://', colon)) {
    host = hostOf(url);
    start = colon + 3;
    while (start < url.length) {
      const code = url.charCodeAt(start);
      if (code === 47 || code === 63 || code === 35) break;
      start++;
    }
  }
  const mark = url.indexOf('?', start);
  return {
    url,
    scheme,
    host,
    path: mark < 0 ? url.slice(start) : url.slice(start, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
    depth,
  };
}

/** Path segments: `/a/b` and `/a/b/` have two. */
export function countSegments(path: string): number {
  let n = 0;
  for (let i = 0; i < path.length; i++)
    if (path.charCodeAt(i) === 47 && i + 1 < path.length && path.charCodeAt(i + 1) !== 47) n++;
  return n;
}

/** Query parameters: parts between `&`. */
export function countParameters(query: string): number {
  if (query === '') return 0;
  let n = 1;
  for (let i = 0; i < query.length; i++) if (query.charCodeAt(i) === 38) n++;
  return n;
}
