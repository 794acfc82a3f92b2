import {nameSet} from '../url/parameters.ts';
import {parseUrl} from '../url/parse.ts';
import {compilePattern} from '../url/regex.ts';
import {repeatsSegment} from './repeats.ts';
import {badRule, type Match, type Rule} from './rule.ts';
import {countParameters, countSegments} from './target.ts';

/**
 * The form of our own rules, one a line, `#` begins a comment:
 *
 * ```
 * + domain example.org             the host and all hosts below it
 * + host www.example.org           this host alone
 * - surt org,example)/private      SURT prefix: host, then path; without `)` hosts below it too
 * - prefix https://example.org/a   URL prefix
 * - suffix .zip .iso               end of the path, case ignored
 * - regex \?.*sort=                found anywhere in the URL (RE2 syntax)
 * - scheme ftp
 * - parameter replytocom           a query parameter of that name, also NAME*
 * - type video/* application/zip  media type of the answer; asked when its headers are known
 * - length 300                     longer than
 * - depth 3                        further from the seed than
 * - segments 8                     more path segments than
 * - parameters 4                   more query parameters than
 * - repeats 3                      a path segment that often
 * - all
 * ```
 */
export function parseOwnRules(lines: Iterable<readonly [line: number, text: string]>, file: string): Rule[] {
  const rules: Rule[] = [];
  for (const [line, raw] of lines) {
    const text = raw.trim();
    if (text === '' || text.startsWith('#')) continue;
    const [, sign, kind, value = ''] = /^([+-])\s+(\S+)(?:\s+(.*))?$/.exec(text) ?? [];
    if (sign === undefined || kind === undefined)
      throw badRule(file, line, 'expected + or -, a kind and a value', text);
    const add = (match: Match) => rules.push({accept: sign === '+', text, file, line, match});
    for (const match of matchesOf(kind, value, {file, line, text})) add(match);
  }
  return rules;
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

function matchesOf(kind: string, value: string, place: Place): Match[] {
  const words = value.split(/\s+/).filter((word) => word !== '');
  const each = (make: (word: string) => Match): Match[] => {
    if (words.length === 0) throw badRule(place.file, place.line, `${kind} needs a value`, place.text);
    return words.map(make);
  };
  const above = (
    measure: (target: Parameters<Extract<Match, {kind: 'test'}>['test']>[0]) => number,
  ): Match[] => {
    if (!/^\d+$/.test(value)) throw badRule(place.file, place.line, `${kind} needs a number`, place.text);
    const limit = Number(value);
    return [{kind: 'test', test: (target) => measure(target) > limit}];
  };
  switch (kind) {
    case 'domain':
      return each((word) => ({kind, domain: asHost(word, place)}));
    case 'host':
      return each((word) => ({kind, host: asHost(word, place)}));
    case 'surt':
      return each((word) => surtMatch(word, place));
    case 'prefix':
      return each((prefix) => ({kind, prefix}));
    case 'suffix':
      return each((word) => ({kind, suffix: word.toLowerCase()}));
    case 'regex': {
      if (value === '') throw badRule(place.file, place.line, 'regex needs a pattern', place.text);
      const pattern = compilePattern(value, place);
      return [{kind: 'test', test: (target) => pattern.test(target.url)}];
    }
    case 'scheme':
      return each((word) => ({kind: 'test', test: (target) => target.scheme === word.toLowerCase()}));
    case 'type':
      return each((word) => {
        if (!/^[^/\s]+\/[^/\s]+$/.test(word))
          throw badRule(place.file, place.line, 'not a media type', place.text);
        const prefix = word.endsWith('*');
        return {kind, type: (prefix ? word.slice(0, -1) : word).toLowerCase(), prefix};
      });
    case 'parameter': {
      each((word) => ({kind: 'prefix', prefix: word}));
      const named = nameSet(words);
      return [{kind: 'test', test: ({query}) => query !== '' && hasParameter(query, named)}];
    }
    case 'length':
      return above(({url}) => url.length);
    case 'depth':
      return above(({depth}) => depth);
    case 'segments':
      return above(({path}) => countSegments(path));
    case 'parameters':
      return above(({query}) => countParameters(query));
    case 'repeats': {
      const times = Number(value);
      if (!/^\d+$/.test(value) || times < 2)
        throw badRule(place.file, place.line, 'repeats needs a number of 2 or more', place.text);
      return [{kind: 'test', test: ({path}) => repeatsSegment(`${path}/`, times)}];
    }
    case 'all':
      if (value !== '') throw badRule(place.file, place.line, 'all takes no value', place.text);
      return [{kind: 'test', test: () => true}];
    default:
      throw badRule(place.file, place.line, `unknown kind ${kind}`, place.text);
  }
}

function hasParameter(query: string, named: (name: string) => boolean): boolean {
  for (const part of query.split('&')) {
    const eq = part.indexOf('=');
    if (named((eq < 0 ? part : part.slice(0, eq)).toLowerCase())) return true;
  }
  return false;
}

/** A host name as URLs have it: lower case, IDN in ASCII. */
function asHost(word: string, place: Place): string {
  const bare = word.replace(/^\*?\./, '').replace(/\.$/, '');
  const url = /[/?#@]|:\d+$/.test(bare) ? undefined : parseUrl(`http://${bare}/`);
  if (url === undefined) throw badRule(place.file, place.line, 'not a host name', place.text);
  return url.hostname;
}

/**
 * `org,example)/path`, `org,example,` or Heritrix’s `http://(org,example,)/path`. Up to the `)` it is one host,
 * with and without `www.` unless the rule says `www`; without `)` all hosts below it too.
 */
function surtMatch(word: string, place: Place): Match {
  const form = /^(?:[a-z+]*:\/\/)?\(?([^)/?#]*)(\)(.*))?$/i.exec(word);
  if (!form) throw badRule(place.file, place.line, 'not a SURT prefix', place.text);
  const [, reversed = '', closed, path = ''] = form;
  const labels = reversed.replace(/,+$/, '').split(',');
  if (path !== '' && !path.startsWith('/'))
    throw badRule(place.file, place.line, 'a SURT path begins with /', place.text);
  const host = labels[0] === '' ? '' : asHost(labels.reverse().join('.'), place);
  if (host === '' && closed !== undefined)
    throw badRule(place.file, place.line, 'not a SURT prefix', place.text);
  return {kind: 'surt', host, below: closed === undefined, www: /^www\d*\./.test(host), path};
}
