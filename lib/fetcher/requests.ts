import type {Config} from '../config/settings.ts';
import type {HttpRequest, ResponseHead} from '../http/exchange.ts';
import {maxSitemapBytes} from '../sitemap/sitemap.ts';
import {mimeOf} from './captures.ts';
import {header} from './outcome.ts';
import type {RateLimit} from './rate.ts';
import type {FetcherSettings} from './settings.ts';
import type {WorkItem} from './worklist.ts';

/** A request for an item of the worklist, and what is learnt while its answer comes in. */
export interface ItemRequest {
  readonly request: HttpRequest;
  readonly conditional: boolean;
  /** Media type that was refused before its body was read; null: none. */
  typeRefused(): string | null;
  /** The answer is in. */
  ended(): void;
}

const firstExpected = 65_536; // chosen: of a page's payload, until the first has come; what is on its way without being read
const pagesInMean = 100; // chosen: as many recent payloads tell what the next will bring

/** Makes the requests of a fetch. */
export class RequestMaker {
  readonly #config: Config;
  readonly #scope: FetcherSettings['scope'];
  readonly #headers: readonly (readonly [string, string])[];
  readonly #rate: RateLimit;
  readonly #now: () => number;
  /** Mean payload of the last answers; robots.txt, which comes first and is small, is left out. */
  #meanBytes = firstExpected;
  #answers = 0;

  constructor(
    {config, scope}: Pick<FetcherSettings, 'config' | 'scope'>,
    rate: RateLimit,
    now: () => number,
  ) {
    this.#config = config;
    this.#scope = scope;
    this.#rate = rate;
    this.#now = now;
    this.#headers = [
      ['Accept', config.fetch.accept],
      ['Accept-Language', config.fetch.accept_language],
      ['Accept-Encoding', config.fetch.accept_encoding],
    ];
  }

  /** The request, which is sent at once and counted in the limits. @param rate limits of the host alone */
  make(item: WorkItem, rate: RateLimit | null): ItemRequest {
    const conditional = item.held !== null && this.#config.fetch.conditional ? conditions(item) : [];
    let refused: string | null = null;
    const wantBody = (head: ResponseHead) => {
      const type = mimeOf(header(head, 'content-type'));
      if (type === null || head.status >= 300 || this.#scope.checkType(type).accepted) return true;
      refused = type;
      return false;
    };
    const limits = rate === null ? [this.#rate] : [this.#rate, rate];
    const {expected, pace, ended} = this.#pacing(item.kind === 'robots', limits);
    for (const limit of limits) limit.sent(this.#now(), expected);
    const checksType = this.#config.scope.reject_types.length > 0 && item.kind !== 'robots';
    return {
      request: {
        url: item.url,
        headers: conditional.length === 0 ? this.#headers : [...this.#headers, ...conditional],
        maxBody: this.#maxBodyOf(item),
        ...(limits.some(({pacesBytes}) => pacesBytes) ? {pace} : {}),
        ...(checksType ? {wantBody} : {}),
      },
      conditional: conditional.length > 0,
      typeRefused: () => refused,
      ended,
    };
  }

  /** A robots.txt is read one byte beyond its limit, so that a cut is noticed; sitemaps may be as long as their protocol lets them. */
  #maxBodyOf({kind, sitemap}: WorkItem): number {
    const {robots, fetch} = this.#config;
    if (kind === 'robots') return robots.max_size + 1;
    return sitemap ? Math.max(fetch.max_body, maxSitemapBytes) : fetch.max_body;
  }

  /** Bodies are read as fast as fetch.max_bandwidth and the host's own limit let them be. */
  #pacing(isRobots: boolean, limits: readonly RateLimit[]) {
    const expected = isRobots ? 0 : this.#meanBytes;
    let came = 0;
    const pace = (bytes: number): number => {
      const now = this.#now();
      const before = came;
      came += bytes;
      const more = Math.max(came - expected, 0) - Math.max(before - expected, 0);
      let restMs = 0;
      for (const limit of limits) {
        limit.expectMore(now, more);
        restMs = Math.max(restMs, limit.received(now, bytes));
      }
      return restMs;
    };
    const ended = () => {
      for (const limit of limits) limit.expectMore(this.#now(), Math.min(came - expected, 0));
      if (isRobots) return;
      this.#answers = Math.min(this.#answers + 1, pagesInMean);
      this.#meanBytes += (came - this.#meanBytes) / this.#answers;
    };
    return {expected, pace, ended};
  }
}

/** Headers that make a request conditional. @see RFC 9110, 13.1.2 and 13.1.3 */
function conditions(item: WorkItem): (readonly [string, string])[] {
  const list: (readonly [string, string])[] = [];
  if (item.held?.etag) list.push(['If-None-Match', item.held.etag]);
  if (item.held?.lastModified) list.push(['If-Modified-Since', item.held.lastModified]);
  return list;
}
