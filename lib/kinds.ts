import type {OptionDeclaration, OptionKind} from './options.ts';

/**
 * Values of options and settings: from text (command line, environment), from YAML, and back to text.
 * Nothing here throws; what cannot be read comes back as a problem that names the value and the form wanted.
 */
export type KindValue = boolean | string | number | readonly string[] | Readonly<Record<string, string>>;
export type Parsed = {readonly value: KindValue} | {readonly problem: string};

/** How each kind is written, for help, documents and messages. */
export const kindForms: Readonly<Record<OptionKind, {readonly placeholder: string; readonly form: string}>> =
  {
    flag: {placeholder: '', form: 'true or false'},
    text: {placeholder: 'TEXT', form: 'a text'},
    count: {placeholder: 'N', form: 'a whole number, as 500 or 50_000'},
    number: {placeholder: 'NUMBER', form: 'a number, as 0.85'},
    duration: {placeholder: 'DURATION', form: 'a number with its unit, as 300ms 30s 5m 12h 30d'},
    size: {placeholder: 'SIZE', form: 'bytes, as 512 64KiB 10MiB 1GB'},
    rate: {placeholder: 'RATE', form: 'an amount per time, as 10/s 600/min 5MiB/s'},
    choice: {placeholder: 'WORD', form: 'one of the words listed'},
    list: {placeholder: 'A,B', form: 'texts, separated by commas or given one by one'},
    map: {placeholder: 'KEY=VALUE', form: 'KEY=VALUE pairs'},
  };

/** Milliseconds. */
const durationUnits = {ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000} as const;
/** Bytes. SI names are powers of 1000, IEC names powers of 1024. */
const sizeUnits: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};
/** Seconds. */
const rateUnits: Readonly<Record<string, number>> = {s: 1, sec: 1, min: 60, m: 60, h: 3600, d: 86_400};

/** The value of an option as written on the command line or in the environment. */
export function parseText(declaration: OptionDeclaration, text: string): Parsed {
  switch (declaration.kind) {
    case 'flag':
      return flag(text);
    case 'text':
      return text === '' ? {problem: 'it is empty'} : {value: text};
    case 'count':
      return bounded(declaration, count(text));
    case 'number':
      return bounded(declaration, number(text));
    case 'duration':
      return bounded(declaration, duration(text));
    case 'size':
      return bounded(declaration, size(text));
    case 'rate':
      return bounded(declaration, rate(text));
    case 'choice':
      return choice(declaration, text);
    case 'list':
      return members(declaration, splitCommas(text));
    case 'map':
      return pairs(splitCommas(text));
    default:
      return declaration.kind satisfies never;
  }
}

/**
 * The value of an option given once or several times on the command line: only lists and maps may be repeated.
 * A map has one pair a text, commas and all.
 */
export function parseTexts(declaration: OptionDeclaration, texts: readonly string[]): Parsed {
  if (declaration.kind === 'list') return members(declaration, texts.flatMap(splitCommas));
  if (declaration.kind === 'map') return pairs(texts);
  if (texts.length === 1) return parseText(declaration, texts[0]!);
  return {problem: `it is given ${texts.length} times`};
}

/** The value of a setting as a YAML reader hands it over. */
export function parseData(declaration: OptionDeclaration, data: unknown): Parsed {
  const kind = declaration.kind;
  if (data === null || data === undefined) return {problem: 'it has no value'};
  switch (kind) {
    case 'flag':
      return typeof data === 'boolean' ? {value: data} : wrongType(declaration, data);
    case 'text':
    case 'choice':
      return typeof data === 'string' ? parseText(declaration, data) : wrongType(declaration, data);
    case 'count':
    case 'number':
    case 'duration':
    case 'size':
    case 'rate':
      if (typeof data === 'string') return parseText(declaration, data);
      return typeof data === 'number'
        ? parseText(declaration, plainNumber(data))
        : wrongType(declaration, data);
    case 'list':
      if (!Array.isArray(data) || !data.every(isScalar)) return wrongType(declaration, data);
      return members(declaration, data.map(String));
    case 'map':
      if (typeof data !== 'object' || Array.isArray(data) || !Object.values(data).every(isScalar))
        return wrongType(declaration, data);
      return {value: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, String(value)]))};
    default:
      return kind satisfies never;
  }
}

/** The default of a declaration as a value, or undefined where it has none. Throws for a declaration that is wrong. */
export function defaultValue(declaration: OptionDeclaration): KindValue | undefined {
  if (declaration.default === undefined) return undefined;
  const parsed = parseData(declaration, declaration.default);
  if ('problem' in parsed)
    throw new TypeError(`default ${JSON.stringify(declaration.default)}: ${parsed.problem}`);
  return parsed.value;
}

/** The value as {@link parseText} reads it, with the largest unit that keeps it exact. */
export function formatValue(declaration: OptionDeclaration, value: KindValue): string {
  if (typeof value === 'object')
    return (Array.isArray(value) ? value : Object.entries(value).map(([key, item]) => `${key}=${item}`))
      .map((item) => item.replaceAll(',', '\\,'))
      .join(',');
  if (typeof value !== 'number') return String(value);
  if (declaration.kind === 'duration') return formatDuration(value);
  if (declaration.kind === 'size') return formatSize(value);
  if (declaration.kind === 'rate') return `${plainNumber(value)}/s`;
  return plainNumber(value);
}

/** `1500` → `1500ms`, `86400000` → `1d`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  for (const unit of ['d', 'h', 'm', 's'] as const)
    if (ms % durationUnits[unit] === 0) return `${ms / durationUnits[unit]}${unit}`;
  return `${plainNumber(ms)}ms`;
}

/** `65536` → `64KiB`, `2000000000` → `2GB`, `1023` → `1023`. */
export function formatSize(bytes: number): string {
  if (bytes > 0)
    for (const unit of ['TiB', 'TB', 'GiB', 'GB', 'MiB', 'MB', 'KiB', 'KB']) {
      const factor = sizeUnits[unit.toLowerCase()]!;
      if (bytes % factor === 0) return `${bytes / factor}${unit}`;
    }
  return String(bytes);
}

function flag(text: string): Parsed {
  if (/^(true|yes|on|1)$/i.test(text)) return {value: true};
  if (/^(false|no|off|0)$/i.test(text)) return {value: false};
  return bad(text, 'flag');
}

function count(text: string): Parsed {
  if (!/^\d[\d_]*$/.test(text)) return bad(text, 'count');
  const value = Number(text.replaceAll('_', ''));
  return Number.isSafeInteger(value) ? {value} : {problem: `${text} is too large`};
}

function number(text: string): Parsed {
  if (!/^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(text)) return bad(text, 'number');
  const value = Number(text);
  return Number.isFinite(value) ? {value} : {problem: `${text} is too large`};
}

function duration(text: string): Parsed {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text);
  if (match === null) return bad(text, 'duration');
  const [, amount = '', unit = ''] = match;
  if (unit === '')
    return Number(amount) === 0
      ? {value: 0}
      : {problem: `${text} has no unit: write ${text}s, ${text}m, ${text}h or ${text}d`};
  if (!Object.hasOwn(durationUnits, unit))
    return {problem: `${text} has the unit ${unit}; known are ${Object.keys(durationUnits).join(' ')}`};
  return {value: round(Number(amount) * durationUnits[unit as keyof typeof durationUnits])};
}

function size(text: string): Parsed {
  const match = /^(\d[\d_]*(?:\.\d+)?)\s*([a-z]*)$/i.exec(text);
  if (match === null) return bad(text, 'size');
  const [, amount = '', unit = ''] = match;
  const factor = sizeUnits[unit.toLowerCase()];
  if (factor === undefined)
    return {
      problem: `${text} has the unit ${unit}; known are B KB MB GB TB (1000) and KiB MiB GiB TiB (1024)`,
    };
  const value = Math.round(Number(amount.replaceAll('_', '')) * factor);
  return Number.isSafeInteger(value) ? {value} : {problem: `${text} is too large`};
}

function rate(text: string): Parsed {
  const match = /^(.+)\/([a-z]+)$/i.exec(text);
  if (match === null) return bad(text, 'rate');
  const seconds = rateUnits[match[2]!.toLowerCase()];
  if (seconds === undefined) return {problem: `${text} is per ${match[2]}; known are /s /min /h /d`};
  const amount = /[a-z]/i.test(match[1]!) ? size(match[1]!) : number(match[1]!);
  if ('problem' in amount || typeof amount.value !== 'number' || amount.value < 0) return bad(text, 'rate');
  return {value: amount.value / seconds};
}

function choice(declaration: OptionDeclaration, text: string): Parsed {
  const values = declaration.values ?? [];
  return values.includes(text) ? {value: text} : {problem: `${quote(text)} is none of: ${values.join(', ')}`};
}

function members(declaration: OptionDeclaration, items: readonly string[]): Parsed {
  const stray = declaration.values && items.find((item) => !declaration.values!.includes(item));
  return stray === undefined
    ? {value: items}
    : {problem: `${quote(stray)} is none of: ${declaration.values!.join(', ')}`};
}

function pairs(items: readonly string[]): Parsed {
  const map: Record<string, string> = {};
  for (const item of items) {
    const at = item.indexOf('=');
    if (at <= 0) return bad(item, 'map');
    const key = item.slice(0, at);
    if (Object.hasOwn(map, key)) return {problem: `${key} is given twice`};
    map[key] = item.slice(at + 1);
  }
  return {value: map};
}

/** Splits at commas; `\,` is a comma within an item. Empty text is an empty list. */
function splitCommas(text: string): string[] {
  if (text === '') return [];
  return text.split(/(?<!\\),/).map((item) => item.replaceAll('\\,', ',').trim());
}

function bounded(declaration: OptionDeclaration, parsed: Parsed): Parsed {
  if ('problem' in parsed || typeof parsed.value !== 'number') return parsed;
  const {min, max} = declaration;
  const show = (value: number) => formatValue(declaration, value);
  if (min !== undefined && parsed.value < min)
    return {problem: `${show(parsed.value)} is less than ${show(min)}`};
  if (max !== undefined && parsed.value > max)
    return {problem: `${show(parsed.value)} is more than ${show(max)}`};
  return parsed;
}

function bad(text: string, kind: OptionKind): Parsed {
  return {problem: `${quote(text)} is not ${kindForms[kind].form}`};
}

function wrongType(declaration: OptionDeclaration, data: unknown): Parsed {
  const what = Array.isArray(data)
    ? 'a list'
    : typeof data === 'object'
      ? 'a map'
      : `the ${typeof data} ${String(data)}`;
  const form =
    declaration.kind === 'list'
      ? 'a list, as [a, b]'
      : declaration.kind === 'map'
        ? 'a map, as {key: value}'
        : declaration.kind === 'choice'
          ? `one of: ${(declaration.values ?? []).join(', ')}`
          : kindForms[declaration.kind].form;
  const advice = declaration.kind === 'text' && isScalar(data) ? ' (put it in quotes)' : '';
  return {problem: `it is ${what}, wanted is ${form}${advice}`};
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Without exponent, so that it can be read back as a count. */
function plainNumber(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

/** To a millionth, which takes binary noise off `0.1 × 3600`. */
function round(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value * 1e6) / 1e6;
}

function quote(text: string): string {
  return text === '' || /\s/.test(text) ? JSON.stringify(text) : text;
}
