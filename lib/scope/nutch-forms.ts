import {ownerDomain, publicSuffix, registeredDomain} from '../url/host.ts';
import {compilePattern} from '../url/regex.ts';
import {bricsToRe2} from './brics.ts';
import {repeatsAlternately, repeatsSegment} from './repeats.ts';
import {badRule, type Rule} from './rule.ts';
import {firstMatch} from './rule-list.ts';
import type {Target} from './target.ts';

/**
 * Nutch's URL filter files. As in Nutch each file is a filter of its own, which accepts or rejects a URL, and
 * a URL must pass them all.
 */
export const nutchForms = [
  'regex',
  'automaton',
  'prefix',
  'suffix',
  'domain',
  'domaindenylist',
  'fast',
] as const;
export type NutchForm = (typeof nutchForms)[number];

export interface FilterVerdict {
  readonly accept: boolean;
  /** The deciding rule; undefined where the form's last word decided. */
  readonly rule?: Rule;
}
export type Filter = (target: Target) => FilterVerdict;

/** Reads a file; throws CONFIG_INVALID with file and line. */
export function parseNutchFile(form: NutchForm, text: string, file: string): Filter {
  const lines: [number, string][] = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .map((line, index) => [index + 1, line]);
  switch (form) {
    case 'regex':
    case 'automaton':
      return regexFilter(form, lines, file);
    case 'prefix':
      return prefixFilter(lines, file);
    case 'suffix':
      return suffixFilter(lines, file);
    case 'domain':
    case 'domaindenylist':
      return domainFilter(form === 'domain', lines, file);
    case 'fast':
      return fastFilter(lines, file);
  }
}

type Lines = readonly (readonly [line: number, text: string])[];
const content = (lines: Lines) => lines.filter(([, text]) => text.trim() !== '' && !text.startsWith('#'));

/** First match decides, no match rejects. `> NAME` to `<`: rules for a host or domain. automaton: the whole URL must match. */
function regexFilter(form: 'regex' | 'automaton', lines: Lines, file: string): Filter {
  const rules: Rule[] = [];
  let section: string | undefined;
  for (const [line, text] of content(lines)) {
    const sign = text[0];
    if (sign === '>') section = text.slice(1).trim().toLowerCase();
    else if (sign === '<') section = undefined;
    else if (sign === '+' || sign === '-') {
      const only = section;
      const test = textTest(text.slice(1), form === 'automaton', {file, line});
      rules.push({
        accept: sign === '+',
        text,
        file,
        line,
        match: {
          kind: 'test',
          test: ({url, host}) =>
            (only === undefined ||
              host === only ||
              registeredDomain(host) === only ||
              ownerDomain(host) === only) &&
            test(url),
        },
      });
    } else if (sign !== ' ' && sign !== '\t') throw badRule(file, line, 'expected +, -, > or <', text);
  }
  const find = firstMatch(rules);
  return (target) => {
    const rule = find(target);
    return rule ? {accept: rule.accept, rule} : {accept: false};
  };
}

/** Nutch's rules against circles, in their two spellings: the only back-references that have a form in linear time. */
const circle = /^(?:\.\*)?\(\/(\.\+\??|\[\^\/\]\+)\)\/(\.\*\??|\[\^\/\]\+)((?:\\1\/(?:\2)?)+)$/;

function textTest(
  source: string,
  whole: boolean,
  place: {readonly file: string; readonly line: number},
): (text: string) => boolean {
  if (whole) {
    const translated = bricsToRe2(source);
    if ('problem' in translated)
      throw badRule(place.file, place.line, `not taken: ${translated.problem}`, source);
    const pattern = compilePattern(translated.pattern, place);
    return (text) => pattern.testWhole(text);
  }
  const known = circleTest(source);
  if (known) return known;
  const pattern = compilePattern(source, place);
  return (text) => pattern.test(text);
}

function circleTest(source: string): ((text: string) => boolean) | undefined {
  const form = circle.exec(source);
  if (!form) return undefined;
  const between = form[2]!;
  const pieces = form[3]!.split('\\1/');
  // The gap stands between the repetitions, and not after the last.
  const gaps = pieces.slice(1, -1);
  if (pieces.at(-1) !== '' || gaps.some((gap) => gap !== between)) return undefined;
  const times = pieces.length;
  if (between.startsWith('['))
    return form[1] === '[^/]+' ? (text) => repeatsAlternately(text, times) : undefined;
  return (text) => repeatsSegment(text, times);
}

/** The URL begins with one of the lines. */
function prefixFilter(lines: Lines, file: string): Filter {
  const find = firstMatch(
    content(lines).map(([line, text]) => ({
      accept: true,
      text: text.trim(),
      file,
      line,
      match: {kind: 'prefix', prefix: text.trim()},
    })),
  );
  return (target) => {
    const rule = find(target);
    return rule ? {accept: true, rule} : {accept: false};
  };
}

/**
 * A line `+` accepts all but URLs with a listed suffix, a line `-` (the default) only those. With `P` the
 * suffix is of the path, not of the URL; with `I` case is ignored.
 */
function suffixFilter(lines: Lines, file: string): Filter {
  let acceptUnlisted = false;
  let ofPath = false;
  let ignoreCase = false;
  const suffixes: {suffix: string; line: number}[] = [];
  for (const [line, text] of content(lines)) {
    const word = text.trim();
    if (word[0] === '+' || word[0] === '-') {
      acceptUnlisted = word[0] === '+';
      ofPath ||= word.includes('P');
      ignoreCase ||= word.includes('I');
    } else suffixes.push({suffix: word, line});
  }
  const known = new Map<string, Rule>();
  for (const {suffix, line} of suffixes) {
    const key = ignoreCase ? suffix.toLowerCase() : suffix;
    if (known.has(key)) continue;
    const subject = (target: Target) => {
      const part = ofPath ? target.path : target.url;
      return ignoreCase ? part.toLowerCase() : part;
    };
    known.set(key, {
      accept: !acceptUnlisted,
      text: suffix,
      file,
      line,
      match: {kind: 'test', test: (target) => subject(target).endsWith(key)},
    });
  }
  const widths = [...new Set([...known.keys()].map((key) => key.length))].sort((a, b) => a - b);
  return (target) => {
    const part = ofPath ? target.path : target.url;
    const subject = ignoreCase ? part.toLowerCase() : part;
    for (const width of widths) {
      const rule = subject.length < width ? undefined : known.get(subject.slice(subject.length - width));
      if (rule) return {accept: rule.accept, rule};
    }
    return {accept: acceptUnlisted};
  };
}

/** Listed are public suffixes, registered domains and hosts, each as a whole name. */
function domainFilter(acceptListed: boolean, lines: Lines, file: string): Filter {
  const known = new Map<string, Rule>();
  for (const [line, text] of content(lines)) {
    const name = text.trim().toLowerCase();
    if (!known.has(name))
      known.set(name, {accept: acceptListed, text: name, file, line, match: {kind: 'host', host: name}});
  }
  return ({host}) => {
    const rule =
      known.get(host) ??
      known.get(registeredDomain(host)) ??
      known.get(ownerDomain(host)) ??
      known.get(publicSuffix(host) ?? '');
    return rule ? {accept: acceptListed, rule} : {accept: !acceptListed};
  };
}

/** Blocks of `Host NAME` or `Domain NAME` (`.` for all), each with `DenyPath REGEX` and `DenyPathQuery REGEX`; no match accepts. */
function fastFilter(lines: Lines, file: string): Filter {
  const byHost = new Map<string, Rule[]>();
  const byDomain = new Map<string, Rule[]>();
  let block: Rule[] | undefined;
  for (const [line, raw] of lines) {
    const text = raw.trim();
    if (text === '' || text.startsWith('#')) continue;
    const [, word, value] = /^(\S+)\s+(.*)$/.exec(text) ?? [];
    if (value !== undefined && (word === 'Host' || word === 'Domain')) {
      const map = word === 'Host' ? byHost : byDomain;
      const name = value.trim().toLowerCase();
      block = map.get(name) ?? [];
      map.set(name, block);
    } else if (value !== undefined && block && (word === 'DenyPath' || word === 'DenyPathQuery')) {
      const test = value === '.*' || value === '.' ? () => true : textTest(value, false, {file, line});
      const whole = word === 'DenyPathQuery';
      block.push({
        accept: false,
        text,
        file,
        line,
        match: {
          kind: 'test',
          test: ({path, query}) => test(whole && query !== '' ? `${path}?${query}` : path),
        },
      });
    } else throw badRule(file, line, 'expected Host, Domain, DenyPath or DenyPathQuery', text);
  }
  const denied = (rules: Rule[] | undefined, target: Target) =>
    rules?.find(({match}) => match.kind === 'test' && match.test(target));
  return (target) => {
    const {host} = target;
    let rule = denied(byHost.get(host), target) ?? denied(byDomain.get(host), target);
    for (let dot = host.indexOf('.'); rule === undefined && dot >= 0; dot = host.indexOf('.', dot + 1))
      rule = denied(byDomain.get(host.slice(dot + 1)), target);
    rule ??= denied(byDomain.get('.'), target);
    return rule ? {accept: false, rule} : {accept: true};
  };
}

/** The form of a file by Nutch's customary names, as `regex-urlfilter.txt`; undefined for our own form. */
export function nutchFormOf(file: string, text: string): NutchForm | undefined {
  const name = file.split(/[\\/]/).pop() ?? file;
  const words = name.toLowerCase().split(/[^a-z]+/);
  if (words.includes('urlfilter')) {
    const named = nutchForms.find((form) => words.includes(form));
    if (named) return named;
    if (words.includes('domainblacklist')) return 'domaindenylist';
  }
  // A sign with the pattern right behind it is the regex form; in ours a space follows the sign.
  const signed = text.split(/\r\n|\n|\r/).find((line) => /^[+-]/.test(line));
  return signed !== undefined && /^[+-]\S/.test(signed) ? 'regex' : undefined;
}
