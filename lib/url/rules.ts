import {CrawlError} from '../errors.ts';
import {isNutchRules, nutchReplacements} from './nutch-rules.ts';
import {compilePattern, type Pattern} from './regex.ts';

/**
 * The file of `url.rules` (or Nutch's regex-normalize.xml): what normalization does beyond its settings, for all hosts or for some.
 *
 * ```
 * # comment
 * PATTERN<tab>REPLACEMENT     all matches replaced; $1 is a group
 * :strip NAME NAME*           query parameters removed
 * :keep NAME                  query parameters kept
 * :sort                       parameters sorted
 * :collapse-slashes           repeated slashes of the path made one
 * @domain example.org         what follows holds for the domain and all hosts below it
 * @host www.example.org       … for this host alone
 * @all                        … for all hosts again
 * ```
 */
export interface RuleSection {
  readonly kind: 'all' | 'domain' | 'host';
  readonly name: string;
  readonly strip: readonly string[];
  readonly keep: readonly string[];
  readonly sort: boolean;
  readonly collapseSlashes: boolean;
  readonly replacements: readonly Replacement[];
}

export interface Replacement {
  readonly pattern: Pattern;
  readonly with: string;
  readonly file: string;
  readonly line: number;
}

interface Draft {
  kind: RuleSection['kind'];
  name: string;
  strip: string[];
  keep: string[];
  sort: boolean;
  collapseSlashes: boolean;
  replacements: Replacement[];
}

const newSection = (kind: RuleSection['kind'], name: string): Draft => ({
  kind,
  name,
  strip: [],
  keep: [],
  sort: false,
  collapseSlashes: false,
  replacements: [],
});

/** Reads the file; throws CONFIG_INVALID with file and line at the first line that is no rule. */
export function parseUrlRules(text: string, file: string): readonly RuleSection[] {
  if (isNutchRules(text)) return [nutchSection(text, file)];
  const sections: Draft[] = [newSection('all', '')];
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (const [index, raw] of lines.entries()) {
    const line = index + 1;
    const bad = (problem: string) => badUrlRule(file, line, `${problem}: ${raw.slice(0, 200)}`);
    const section = sections[sections.length - 1]!;
    const content = raw.trim();
    if (content === '' || content.startsWith('#')) continue;
    if (content.startsWith('@')) {
      const [kind, name, ...more] = content.slice(1).split(/\s+/);
      if (kind === 'all' && name === undefined) sections.push(newSection('all', ''));
      else if ((kind === 'domain' || kind === 'host') && name !== undefined && more.length === 0)
        sections.push(newSection(kind, name.toLowerCase()));
      else throw bad('expected @all, @domain NAME or @host NAME');
    } else if (content.startsWith(':')) {
      const [word, ...names] = content.slice(1).split(/\s+/);
      if (word === 'strip' && names.length > 0) section.strip.push(...names);
      else if (word === 'keep' && names.length > 0) section.keep.push(...names);
      else if (word === 'sort' && names.length === 0) section.sort = true;
      else if (word === 'collapse-slashes' && names.length === 0) section.collapseSlashes = true;
      else throw bad('expected :strip NAMES, :keep NAMES, :sort or :collapse-slashes');
    } else {
      const tab = raw.indexOf('\t');
      if (tab < 0) throw bad('expected PATTERN<tab>REPLACEMENT');
      section.replacements.push(replacementOf(raw.slice(0, tab), raw.slice(tab + 1).trim(), {file, line}));
    }
  }
  return sections;
}

/** Rules of Nutch's regex-normalize.xml, which hold for all hosts. */
function nutchSection(text: string, file: string): RuleSection {
  const section = newSection('all', '');
  for (const rule of nutchReplacements(text)) {
    if (rule.pattern === undefined)
      throw badUrlRule(file, rule.line, 'a <regex> needs a <pattern> and a <substitution>');
    section.replacements.push(replacementOf(rule.pattern, rule.substitution, {file, line: rule.line}));
  }
  return section;
}

function replacementOf(
  source: string,
  replacement: string,
  place: {file: string; line: number},
): Replacement {
  const pattern = compilePattern(source, place);
  const problem = pattern.replacementProblem(replacement);
  if (problem !== undefined)
    throw badUrlRule(place.file, place.line, `bad replacement (${problem}): ${replacement.slice(0, 200)}`);
  return {pattern, with: replacement, ...place};
}

function badUrlRule(file: string, line: number, problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', `${file}:${line}: ${problem}`, {facts: {file, line}});
}

/** Does the section hold for the host? */
export function sectionHolds(section: RuleSection, host: string): boolean {
  switch (section.kind) {
    case 'all':
      return true;
    case 'host':
      return host === section.name;
    case 'domain':
      return host === section.name || host.endsWith(`.${section.name}`);
  }
}
