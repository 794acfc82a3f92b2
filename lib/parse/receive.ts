import {maxSitemapBytes} from '../sitemap/sitemap.ts';
import {type Body, decodeBody} from './body.ts';
import {headerFields} from './headers.ts';
import {type ContentType, contentTypeOf} from './mime.ts';
import type {PageInput, PageOptions} from './page.ts';
import {detectType} from './sniff.ts';

/** A capture with its coding undone, before any parser has looked at it. */
export interface Received {
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** Type by the header. */
  readonly headerType: ContentType | undefined;
  readonly body: Body;
  readonly maxBody: number;
  /** Type by header and first bytes; null without a body. */
  readonly type: string | null;
}

/** Header fields, content coding and type of a capture. Pure. */
export function receive(input: PageInput, options: Pick<PageOptions, 'maxBody' | 'maxRatio'>): Received {
  const fields = headerFields(input.header);
  const typeLines = fields.get('content-type') ?? (input.contentType === null ? [] : [input.contentType]);
  const headerType = contentTypeOf(typeLines);
  const encoding = fields.get('content-encoding')?.join(', ') ?? input.contentEncoding;
  const maxBody = input.asSitemap === true ? Math.max(options.maxBody, maxSitemapBytes) : options.maxBody;
  const body = decodeBody(input.payload, encoding, {maxBytes: maxBody, maxRatio: options.maxRatio});
  const type = body.bytes.length === 0 ? null : detectType(headerType, body.bytes);
  return {fields, headerType, body, maxBody, type};
}
