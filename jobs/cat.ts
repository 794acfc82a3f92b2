import {oneHost} from '../lib/crawldb/layout.ts';
import {CrawlError} from '../lib/errors.ts';
import {decodeBody} from '../lib/parse/body.ts';
import type {Capture} from '../lib/schema/fetch.ts';
import {identify} from '../lib/url/keys.ts';
import {normalizeUrl} from '../lib/url/normalize.ts';
import {readPolicies} from './config/policies.ts';
import {type CrawlReader, openReader, type ReadSettings} from './read/crawl.ts';

/** What of a capture is wanted: the body with its content coding undone, as received, headers, or text by the parser. */
export type CatPart = 'body' | 'raw' | 'headers' | 'text';

export interface CatResult {
  readonly bytes: Uint8Array;
  readonly url: string;
  readonly segment: string;
  readonly fetch_time: Date;
  readonly fetch_status: number | null;
  readonly content_mime_type: string | null;
  /** For people: what could not be decoded, or is missing at the end. */
  readonly notes: readonly string[];
}

export interface CatSettings extends ReadSettings {
  /** Only captures of this segment. Its payloads may lie in others, so `segments` is no way to say it. */
  readonly only?: string | undefined;
}

/**
 * The newest capture of a URL that has what is wanted. Throws INPUT_UNREADABLE, with what there is instead, where
 * there is none.
 */
export async function catUrl(input: string, part: CatPart, settings: CatSettings): Promise<CatResult> {
  const {policy} = await readPolicies(settings.dir, settings.config);
  const normal = normalizeUrl(input, policy);
  if ('reason' in normal)
    throw new CrawlError('USAGE', `${input}: ${normal.detail}`, {facts: {reason: normal.reason}});
  const reader = await openReader({...settings, hosts: oneHost(identify(normal.url).host_key)});
  try {
    if (settings.only !== undefined) reader.snapshot.segment(settings.only);
    const all = await capturesOf(reader, normal.url);
    const captures = settings.only === undefined ? all : all.filter(({segment}) => segment === settings.only);
    const capture = captures.find((one) => (part === 'headers' ? one.request_header !== null : hasBody(one)));
    if (capture === undefined) throw notThere(normal.url, part, captures);
    const {bytes, notes} = await read(reader, capture, part, settings);
    const {url, segment, fetch_time, fetch_status, content_mime_type} = capture;
    return {bytes, url, segment, fetch_time, fetch_status, content_mime_type, notes};
  } finally {
    await reader.close();
  }
}

/** Whether there is a body, be it empty: one of a redirect is only then worth showing when it says something. */
function hasBody({content_sha256, content_length, fetch_redirect}: Capture): boolean {
  return content_sha256 !== null && (fetch_redirect === null || (content_length ?? 0) > 0);
}

/** Newest first; of one time the answer before the hop that led to it. */
function capturesOf({db}: CrawlReader, url: string): Promise<Capture[]> {
  const {host_key, url_key} = identify(url);
  return db.all<Capture>(
    `FROM captures WHERE host_key = $host_key AND url_key = $url_key AND url = $url
     ORDER BY fetch_time DESC, kind, hop`,
    {host_key, url_key, url},
  );
}

function notThere(url: string, part: CatPart, captures: readonly Capture[]): CrawlError {
  const [newest] = captures;
  if (newest === undefined)
    return new CrawlError('INPUT_UNREADABLE', `${url} was never fetched`, {
      hint: `Why: crawl explain ${url}`,
    });
  const why =
    newest.fetch_redirect === null
      ? (newest.reason ?? newest.status)
      : `redirects to ${newest.fetch_redirect}`;
  return new CrawlError(
    'INPUT_UNREADABLE',
    `${url} has no ${part === 'headers' ? 'headers' : 'payload'}: ${newest.fetch_status ?? ''} ${why}`.replace(
      '  ',
      ' ',
    ),
    {
      facts: {url, status: newest.status, reason: newest.reason, fetch_redirect: newest.fetch_redirect},
      hint:
        newest.fetch_redirect === null
          ? `Why: crawl explain ${url}`
          : `Try: crawl cat ${newest.fetch_redirect}`,
    },
  );
}

async function read(
  reader: CrawlReader,
  capture: Capture,
  part: CatPart,
  {config}: ReadSettings,
): Promise<{bytes: Uint8Array; notes: string[]}> {
  const notes: string[] = [];
  if (capture.content_truncated !== null) notes.push(`the payload is cut (${capture.content_truncated})`);
  if (part === 'headers') {
    const blocks = [capture.request_header, capture.response_header].filter((block) => block !== null);
    return {bytes: Buffer.concat(blocks), notes};
  }
  if (part === 'text') {
    const [row] = await reader.db.all<{text: string | null}>(
      'SELECT text FROM parse WHERE capture_id = $capture_id',
      {capture_id: capture.capture_id},
    );
    if (row?.text == null)
      throw new CrawlError(
        'INPUT_UNREADABLE',
        `${capture.url} has no text: its capture is not parsed, or no text was found`,
        {
          hint: 'crawl parse reads what is fetched.',
        },
      );
    return {bytes: Buffer.from(`${row.text}\n`), notes};
  }
  const payload = await payloadOf(reader, capture);
  if (part === 'raw') return {bytes: payload, notes};
  const body = decodeBody(payload, capture.content_encoding, {
    maxBytes: config.parse.max_body,
    maxRatio: config.parse.max_ratio,
  });
  return {bytes: body.bytes, notes: [...notes, ...body.errors]};
}

async function payloadOf({db}: CrawlReader, capture: Capture): Promise<Uint8Array> {
  if (capture.content_length === 0) return new Uint8Array(0); // empty payloads are not stored
  const [row] = await db.all<{payload: Uint8Array}>(
    'SELECT payload FROM content WHERE content_sha256 = $sha256 AND segment = $segment LIMIT 1',
    {sha256: capture.content_sha256 ?? '', segment: capture.content_segment ?? capture.segment},
  );
  if (row) return row.payload;
  throw new CrawlError(
    'FILE_MISSING',
    `the payload of ${capture.url} is not in segment ${capture.content_segment ?? capture.segment}`,
    {
      facts: {
        url: capture.url,
        content_segment: capture.content_segment,
        content_sha256: capture.content_sha256,
      },
    },
  );
}
