import {identify} from '../url/keys.ts';
import type {WorkItem} from './worklist.ts';

/** Requests that are not of the fetchlist, for the sake of a URL that is (`cause`). */

/** What is told of the URL for whose sake something is asked. */
export type Cause = Pick<WorkItem, 'url' | 'originUrl' | 'depth' | 'seed'>;

/** For the robots.txt of an origin. Its row names the URL that needed it, by which a resumed fetch finds the origin. */
export function robotsItem(origin: string, cause: Cause): WorkItem {
  const item = extraItem('robots', `${origin}/robots.txt`, cause);
  return {...item, originUrl: cause.url, robotsOrigin: origin};
}

/** For a path that no host has. */
export function probeItem(url: string, cause: WorkItem): WorkItem {
  return extraItem('probe', url, cause);
}

/** For the target of a redirect. */
export function hopItem(target: string, from: WorkItem): WorkItem {
  return {
    ...extraItem('hop', target, from),
    hop: from.hop + 1,
    chain: [...from.chain, from.url],
    sitemap: from.sitemap,
  };
}

function extraItem(kind: WorkItem['kind'], url: string, {originUrl, depth, seed}: Cause): WorkItem {
  return {
    kind,
    url,
    urlKey: identify(url).url_key,
    hop: 0,
    originUrl,
    depth,
    seed,
    held: null,
    chain: [],
    sitemap: false,
    robotsOrigin: null,
  };
}
