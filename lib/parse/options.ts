import type {Config} from '../config/settings.ts';
import {encodingOf} from './encoding-labels.ts';
import type {PageOptions} from './page.ts';

/** What a configuration says of reading a page. */
export function pageOptions(config: Pick<Config, 'parse' | 'links' | 'agent'>): PageOptions {
  return {
    maxBody: config.parse.max_body,
    maxRatio: config.parse.max_ratio,
    maxText: config.parse.max_text,
    fallback: encodingOf(config.parse.default_charset) ?? 'windows-1252',
    maxAnchor: config.links.max_anchor,
    maxLinks: config.links.max_per_page,
    // The page's own time ends the thread that waits for the PDF, and its task begins anew: this one must end before.
    pdf: {timeMs: config.parse.timeout * 0.8, memory: config.parse.pdf_memory},
    productToken: config.agent.name,
  };
}
