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
}

/** Makes the requests of a fetch. */
export class RequestMaker {
  readonly #config: Config;
  readonly #scope: FetcherSettings['scope'];
  readonly #headers: readonly (readonly [string, string])[];
  readonly #rate: RateLimit;
  readonly #now: () => number;

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

  /** @param rate limits of the host alone */
  make(item: WorkItem, rate: RateLimit | null): ItemRequest {
    const conditional = item.held !== null && this.#config.fetch.conditional ? conditions(item) : [];
    let refused: string | null = null;
    const wantBody = (head: ResponseHead) => {
      const type = mimeOf(header(head, 'content-type'));
      if (type === null || head.status >= 300 || this.#scope.checkType(type).accepted) return true;
      refused = type;
      return false;
    };
    const checksType = this.#config.scope.reject_types.length > 0 && item.kind !== 'robots';
    return {
      request: {
        url: item.url,
        headers: conditional.length === 0 ? this.#headers : [...this.#headers, ...conditional],
        maxBody: this.#maxBodyOf(item),
        ...this.#paceOf(rate),
        ...(checksType ? {wantBody} : {}),
      },
      conditional: conditional.length > 0,
      typeRefused: () => refused,
    };
  }

  /** A robots.txt is read one byte beyond its limit, so that a cut is noticed; sitemaps may be as long as their protocol lets them. */
  #maxBodyOf({kind, sitemap}: WorkItem): number {
    const {robots, fetch} = this.#config;
    if (kind === 'robots') return robots.max_size + 1;
    return sitemap ? Math.max(fetch.max_body, maxSitemapBytes) : fetch.max_body;
  }

  /** Bodies are read as fast as fetch.max_bandwidth and the host's own limit let them be. */
  #paceOf(rate: RateLimit | null): Pick<HttpRequest, 'pace'> {
    if (!this.#rate.pacesBytes && !rate?.pacesBytes) return {};
    const pace = (bytes: number) => {
      const now = this.#now();
      return Math.max(this.#rate.received(now, bytes), rate?.received(now, bytes) ?? 0);
    };
    return {pace};
  }
}

/** Headers that make a request conditional. @see RFC 9110, 13.1.2 and 13.1.3 */
function conditions(item: WorkItem): (readonly [string, string])[] {
  const list: (readonly [string, string])[] = [];
  if (item.held?.etag) list.push(['If-None-Match', item.held.etag]);
  if (item.held?.lastModified) list.push(['If-Modified-Since', item.held.lastModified]);
  return list;
}
