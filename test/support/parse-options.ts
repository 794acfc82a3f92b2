import type {PageInput, PageOptions} from '../../lib/parse/page.ts';

/** The defaults of crawl.yaml. */
export const pageOptions: PageOptions = {
  maxBody: 20 << 20,
  maxRatio: 200,
  maxText: 1 << 20,
  fallback: 'windows-1252',
  maxAnchor: 200,
  maxLinks: 1000,
  pdf: {timeMs: 120_000, memory: 256 << 20},
  productToken: 'crawl',
};

export function pageInput(payload: Uint8Array | string, headers: readonly string[] = []): PageInput {
  return {
    url: 'https://example.org/dir/page',
    header: Buffer.from(['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n'), 'latin1'),
    contentType: null,
    contentEncoding: null,
    payload: typeof payload === 'string' ? Buffer.from(payload) : payload,
  };
}
