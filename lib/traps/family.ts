import {hostOf, registeredDomain} from '../url/host.ts';

/**
 * Families of URLs that one program behind a site makes: what varies in them is replaced by its kind. A trap shows as a
 * family that goes on without anything new in it, whatever its parameters are called.
 *
 * In a path `{n}` stands for numbers and dates, `{x}` for long mixed tokens, `{a}` for a word, `{w}` for anything else; the first
 * part is kept where it is a plain word, and so are names of files. Equal kinds in a row are one, so that a path that
 * grows stays in its family: `/events/2031/05/` and `/events/1899/12/31/` are `/events/{n}/`.
 *
 * A URL belongs to up to four families, from narrow to wide:
 * 1. of its host, with the names of all parameters and the kinds of their values; words among several values are kept,
 *    since they often name the program (`op=statistics`);
 * 2. of its host, with `?*` for several parameters, or the name of the only one: combinations of filters;
 * 3. of its host, without parameters, with `{a}` for the word that the path begins with: programs that make up words. Of
 *    each word only the first pages count in it;
 * 4. of its domain, without parameters, for hosts below it: names of hosts without end.
 */
export interface Family {
  /** Host name, or `*.` and the registered domain. */
  readonly place: string;
  readonly pattern: string;
  /** The third: `{a}` stands for any word that a path begins with. */
  readonly ofWords?: true;
}

/** Narrow ones first. */
export function familiesOf(url: string): readonly Family[] {
  const host = hostOf(url);
  const {path, query} = partsOf(url);
  const shape = pathShape(path);
  const families: Family[] = [{place: host, pattern: shape + narrowQuery(query)}];
  const wide = shape + wideQuery(query);
  if (query !== '' && wide !== families[0]!.pattern) families.push({place: host, pattern: wide});
  const anyWord = pathShape(path, '{a}');
  if (anyWord !== shape) families.push({place: host, pattern: anyWord, ofWords: true});
  const domain = registeredDomain(host);
  if (domain !== null && domain !== host && domain !== '' && host !== `www.${domain}`)
    families.push({place: `*.${domain}`, pattern: shape});
  return families;
}

export function familyKey({place, pattern}: Family): string {
  return `${place} ${pattern}`;
}

function partsOf(url: string): {readonly path: string; readonly query: string} {
  const [, path = '/', query = ''] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? [];
  return {path: path === '' ? '/' : path, query};
}

/** Kinds of the parts of a path, at most this many: a longer one is beyond scope.max_path_segments anyway. */
const maxParts = 24;

/** @param firstWord what stands for a plain word at the beginning; itself if absent */
function pathShape(path: string, firstWord?: string): string {
  const parts = path.split('/').slice(1, maxParts + 1);
  const kinds: string[] = [];
  for (const [index, part] of parts.entries()) {
    const kind = part === '' ? '' : index === 0 && plainWord.test(part) ? (firstWord ?? part) : kindOf(part);
    if (kind === '' && index < parts.length - 1) continue;
    if (kind !== '' && kind.startsWith('{') && kinds.at(-1) === kind) continue;
    kinds.push(kind);
  }
  return `/${kinds.join('/')}`;
}

const plainWord = /^[a-z_]{1,24}$/;
const fileName = /^[a-z_]{1,24}\.[a-z][a-z0-9]{0,4}$/i;
const number = /^[0-9]+(?:[-_.:,][0-9]+)*$/;
const word = /^\p{L}+$/u;

function kindOf(text: string): string {
  if (number.test(text)) return '{n}';
  if (fileName.test(text)) return text.toLowerCase();
  if (word.test(text)) return '{a}';
  return isToken(text) ? '{x}' : '{w}';
}

/** Minted rather than written: 16 or more letters and digits mixed, or 8 or more hex digits with a number among them. */
function isToken(text: string): boolean {
  if (!/[0-9]/.test(text)) return false;
  return (
    /^[0-9a-f]{8,}$/i.test(text) ||
    (text.length >= 16 && /^[0-9A-Za-z_.~=-]+$/.test(text) && !/^[a-z]+(?:-[a-z0-9]+)+$/.test(text))
  );
}

interface Parameter {
  readonly name: string;
  readonly value: string;
}

function parametersOf(query: string): Parameter[] {
  return query
    .split(/[&;]/)
    .filter((part) => part !== '')
    .slice(0, 50) // as scope.max_query_parameters
    .map((part) => {
      const at = part.indexOf('=');
      const name = (at < 0 ? part : part.slice(0, at))
        .toLowerCase()
        .replace(/[0-9]+/g, '{n}')
        .slice(0, 40);
      return {name, value: at < 0 ? '' : part.slice(at + 1)};
    });
}

function narrowQuery(query: string): string {
  const parameters = parametersOf(query);
  if (parameters.length === 0) return query === '' ? '' : '?';
  const several = parameters.length > 1;
  const texts = parameters.map(({name, value}) => {
    if (value === '') return name;
    return `${name}=${several && plainWord.test(value) ? value : kindOf(value)}`;
  });
  return `?${[...new Set(texts)].sort().join('&')}`;
}

function wideQuery(query: string): string {
  const names = new Set(parametersOf(query).map(({name}) => name));
  if (names.size === 0) return query === '' ? '' : '?';
  return names.size === 1 ? `?${[...names][0]}` : '?*';
}
