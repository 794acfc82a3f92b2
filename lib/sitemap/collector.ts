import {parseAnyDate} from '../http/http-date.ts';
import {
  type ChangeFrequency,
  changeFrequencies,
  type FeedFacts,
  maxProblems,
  type SitemapEntry,
  type SitemapKind,
  type SitemapProblem,
} from './sitemap.ts';
import type {Position} from './xml.ts';

/** Where readers put what they find. It reads the values, and keeps entries and problems within bounds. */
export class Collector {
  readonly entries: SitemapEntry[] = [];
  readonly problems: SitemapProblem[] = [];
  problemCount = 0;
  kind: SitemapKind = 'unknown';
  readonly feed: FeedFacts = {title: null, description: null, language: null, updated: null};
  /** True: there are more entries than are wanted. */
  full = false;
  readonly #base: string;
  readonly #maxEntries: number;

  /** @param base URL of the sitemap itself */
  constructor(base: string, maxEntries: number) {
    this.#base = base;
    this.#maxEntries = maxEntries;
  }

  problem(problem: SitemapProblem['problem'], detail: string, {line, column}: Position): void {
    this.problemCount++;
    if (this.problems.length < maxProblems) {
      this.problems.push({problem, detail: detail.slice(0, 200), line, column});
    }
  }

  add(found: Partial<SitemapEntry> & Pick<SitemapEntry, 'loc' | 'position'>): void {
    if (this.entries.length >= this.#maxEntries) {
      this.full = true;
      return;
    }
    this.entries.push({
      kind: 'page',
      lastmod: null,
      priority: null,
      changefreq: null,
      images: [],
      videos: [],
      news: null,
      alternates: [],
      title: null,
      ...found,
    });
  }

  /** The URL of an entry, or null with a problem. @param base of an xml:base, where one holds */
  loc(text: string, position: Position, base?: string): string | null {
    const trimmed = text.trim();
    if (trimmed === '') {
      this.problem('no_loc', 'an entry without URL', position);
      return null;
    }
    const url = this.link(trimmed, base);
    if (url === null) this.problem('bad_loc', trimmed, position);
    else if (!/^https?:/i.test(trimmed) && base === undefined)
      this.problem('relative_loc', trimmed, position);
    return url;
  }

  /** An absolute http or https URL, or null. */
  link(text: string, base = this.#base): string | null {
    const trimmed = text.trim();
    // Longer than any URL that a server takes; frames keep no more text either.
    if (trimmed === '' || trimmed.length >= 65_536) return null;
    let url: URL;
    try {
      url = new URL(trimmed, base); // asking URL.canParse before would take the time twice
    } catch {
      return null;
    }
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
  }

  date(text: string, position: Position): Date | null {
    if (text.trim() === '') return null;
    const time = parseAnyDate(text);
    if (time === null) this.problem('bad_lastmod', text.trim(), position);
    return time === null ? null : new Date(time);
  }

  priority(text: string, position: Position): number | null {
    const trimmed = text.trim();
    if (trimmed === '') return null;
    const value = /^\d{0,3}(?:[.,]\d{0,9})?$/.test(trimmed) ? Number(trimmed.replace(',', '.')) : Number.NaN;
    if (value >= 0 && value <= 1) return value;
    this.problem('bad_priority', trimmed, position);
    return null;
  }

  changefreq(text: string, position: Position): ChangeFrequency | null {
    const trimmed = text.trim().toLowerCase();
    if (trimmed === '') return null;
    const found = changeFrequencies.find((name) => name === trimmed);
    if (found === undefined) this.problem('bad_changefreq', trimmed, position);
    return found ?? null;
  }
}

/** Text for a title: white space made single, at most 1,000 characters; null if nothing is left. */
export function titleOf(text: string): string | null {
  const title = text.slice(0, 10_000).replace(/\s+/g, ' ').trim().slice(0, 1000);
  return title === '' ? null : title;
}
