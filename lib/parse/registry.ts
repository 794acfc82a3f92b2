import type {DocumentType} from './document.ts';
import {css} from './types/css.ts';
import {html} from './types/html.ts';
import {json} from './types/json.ts';
import {pdf} from './types/pdf.ts';
import {sitemap} from './types/sitemap.ts';
import {text} from './types/text.ts';

/** All types that can be read: a new one is a file in types/ and a word here. */
const documentTypes: readonly DocumentType[] = [html, sitemap, text, json, css, pdf];

const byType = new Map<string, DocumentType>();
for (const documentType of documentTypes)
  for (const type of documentType.types) byType.set(type, documentType);

/** Parser for a content type, or undefined where there is none. */
export function parserFor(type: string): DocumentType | undefined {
  const exact = byType.get(type);
  if (exact !== undefined) return exact;
  // Pictures are XML too, but no documents.
  if (type.startsWith('image/')) return undefined;
  const plus = type.lastIndexOf('+');
  return plus === -1 ? undefined : byType.get(type.slice(plus));
}
