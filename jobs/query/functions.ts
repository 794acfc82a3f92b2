import type {Config} from '../../lib/config/settings.ts';
import {decodeBody} from '../../lib/parse/body.ts';
import {findCharset, transportEncoding} from '../../lib/parse/charset.ts';
import {decoderOf} from '../../lib/parse/decode.ts';
import {headerFields} from '../../lib/parse/headers.ts';
import {contentTypeOf} from '../../lib/parse/mime.ts';
import {pageOptions} from '../../lib/parse/options.ts';
import {detectType, isXml} from '../../lib/parse/sniff.ts';
import type {Database, SqlFunction} from '../../lib/store/duckdb.ts';
import {defineUrlFamily} from '../read/families.ts';

/**
 * Functions of `crawl sql` that read stored payloads as parse does. They run on one thread, so they are for some
 * thousands of rows: what parse keeps in its tables is there already, and faster.
 */
const macros = `
CREATE MACRO decode_payload(payload, content_encoding := NULL) AS
  crawl_decode_payload(payload, content_encoding);
CREATE MACRO payload_text(payload, content_encoding := NULL, content_type := NULL) AS
  decode(crawl_payload_text(payload, content_encoding, content_type));
CREATE MACRO header_value(header, name) AS
  decode(crawl_header_value(header, name));
`;

/** Makes `decode_payload`, `payload_text`, `header_value` and `url_family`. */
export async function defineFunctions(db: Database, config: Config): Promise<void> {
  for (const fn of functions(config)) await db.define(fn);
  await db.run(macros);
  await defineUrlFamily(db);
}

function functions(config: Config): SqlFunction[] {
  const options = pageOptions(config);
  const limits = {maxBytes: options.maxBody, maxRatio: options.maxRatio};
  const bodyOf = (payload: Uint8Array, coding: string | null) => decodeBody(payload, coding, limits).bytes;
  return [
    {
      name: 'crawl_decode_payload',
      parameters: ['BLOB', 'VARCHAR'],
      call: (payload, coding) =>
        payload === null ? null : bodyOf(payload as Uint8Array, coding as string | null),
    },
    {
      name: 'crawl_payload_text',
      parameters: ['BLOB', 'VARCHAR', 'VARCHAR'],
      call(payload, coding, type) {
        if (payload === null) return null;
        const body = bodyOf(payload as Uint8Array, coding as string | null);
        const text = bodyText(body, type as string | null, options.fallback);
        return text === null ? null : Buffer.from(text, 'utf8');
      },
    },
    {
      name: 'crawl_header_value',
      parameters: ['BLOB', 'VARCHAR'],
      call(header, name) {
        if (header === null || name === null) return null;
        const values = headerFields(header as Uint8Array).get((name as string).toLowerCase());
        return values === undefined ? null : Buffer.from(values.join(', '), 'utf8');
      },
    },
  ];
}

type Fallback = Parameters<typeof findCharset>[1]['fallback'];

/** The body as a browser would read it; null for what is no text. */
function bodyText(body: Uint8Array, contentType: string | null, fallback: Fallback): string | null {
  const header = contentType === null ? undefined : contentTypeOf([contentType]);
  const syntax = syntaxOf(detectType(header, body));
  if (syntax === null) return null;
  const transport = transportEncoding(header?.charset);
  const {encoding, bom} = findCharset(body, {transport, syntax, fallback});
  return decoderOf(encoding).decode(body.subarray(bom));
}

/** Where a type declares its charset; null for types that are no text. */
function syntaxOf(type: string): 'html' | 'xml' | 'text' | 'json' | null {
  if (type === 'text/html') return 'html';
  if (isXml(type) || type === 'application/x-sitemap+xml') return 'xml';
  if (type === 'application/json' || type === 'text/json' || type.endsWith('+json')) return 'json';
  return type.startsWith('text/') || /\b(?:java|ecma)script$/.test(type) ? 'text' : null;
}
