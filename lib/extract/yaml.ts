import {readYaml, type YamlEntry} from '../config/document.ts';
import {CrawlError} from '../errors.ts';
import type {Column, ColumnType} from '../schema/table.ts';
import {compilePattern, type Pattern} from '../url/regex.ts';
import type {ExtractPage} from './contract.ts';
import {
  columnNameProblem,
  type Declaration,
  defaultTypes,
  isTypePattern,
  meant,
  tableNameProblem,
} from './declaration.ts';
import {selectorProblem} from './dom.ts';
import type {Document, Element} from './nodes.ts';
import type {LoadedExtractor} from './run.ts';
import {type DecimalSign, dateIn, numberIn} from './values.ts';

/** Types of columns in a YAML file, and how each is stored. `url` is a link, made absolute. */
const yamlTypes = {
  text: 'text',
  url: 'text',
  count: 'count',
  int32: 'int32',
  double: 'double',
  boolean: 'boolean',
  timestamp: 'timestamp',
} as const satisfies Readonly<Record<string, ColumnType>>;
type YamlType = keyof typeof yamlTypes;

/** How a column is read. */
interface ColumnPlan {
  readonly name: string;
  /** Absent: the row's own element. */
  readonly select?: string;
  /** Absent: the text; of a `url` the link. */
  readonly attribute?: string;
  readonly type: YamlType;
  readonly match?: Pattern;
  /** All matches, as an array. */
  readonly all: boolean;
  /** A row without it is left out. */
  readonly required: boolean;
  readonly decimal: DecimalSign;
}

const fileKeys = ['name', 'doc', 'types', 'rows', 'columns'];
const columnKeys = ['select', 'attribute', 'type', 'match', 'all', 'required', 'decimal', 'doc'];

/**
 * An extractor from a YAML file: selectors, no code. Throws EXTRACTOR_INVALID with all that is wrong, a line each.
 *
 * @param stem name of the table where the file gives none
 */
export function readYamlExtractor(text: string, file: string, stem: string): LoadedExtractor {
  const reader = new Reader(file);
  const read = readYaml(text, 3);
  if ('problems' in read) {
    for (const {line, problem} of read.problems) reader.report(line, problem);
    throw reader.error();
  }
  const entries = new Map(read.entries.map((entry) => [entry.key, entry]));
  for (const {key, line} of read.entries)
    if (!fileKeys.includes(key)) reader.report(line, `unknown key ${key}${meant(key, fileKeys)}`);
  const name = reader.text(entries.get('name')) ?? stem.replaceAll('-', '_').toLowerCase();
  const problem = tableNameProblem(name);
  if (problem !== undefined) reader.report(entries.get('name')?.line ?? 1, problem);
  const rows = reader.selector(entries.get('rows'));
  const types = entries.get('types');
  if (
    types !== undefined &&
    !(Array.isArray(types.data) && types.data.length > 0 && types.data.every(isTypePattern))
  )
    reader.report(types.line, 'types: it must be a list of content types, as [text/html]');
  const columns = entries.get('columns');
  const plans: ColumnPlan[] = [];
  const declared: Record<string, Column> = {};
  if (!columns?.entries || columns.entries.length === 0)
    reader.report(columns?.line ?? 1, 'columns: it must name at least one column');
  for (const entry of columns?.entries ?? []) {
    const plan = reader.column(entry, rows !== undefined);
    if (plan === undefined) continue;
    plans.push(plan.plan);
    declared[plan.plan.name] = plan.column;
  }
  if (reader.failed) throw reader.error();
  const declaration: Declaration = {
    name,
    doc: reader.text(entries.get('doc')) ?? '',
    types: types === undefined ? defaultTypes : (types.data as string[]), // checked above
    columns: declared,
  };
  return {declaration, file, extract: (page) => extractRows(page, rows, plans)};
}

class Reader {
  readonly #file: string;
  readonly #problems: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  get failed(): boolean {
    return this.#problems.length > 0;
  }
  report(line: number, problem: string): void {
    this.#problems.push(`${this.#file}:${line}: ${problem}`);
  }
  error(): CrawlError {
    return new CrawlError('EXTRACTOR_INVALID', this.#problems.join('\n'), {
      facts: {problems: this.#problems},
    });
  }

  text(entry: YamlEntry | undefined): string | undefined {
    if (entry === undefined) return undefined;
    if (typeof entry.data === 'string' && entry.data !== '') return entry.data;
    this.report(entry.line, `${entry.key}: it must be a text`);
    return undefined;
  }

  flag(entry: YamlEntry | undefined): boolean {
    if (entry === undefined) return false;
    if (typeof entry.data !== 'boolean') this.report(entry.line, `${entry.key}: it must be true or false`);
    return entry.data === true;
  }

  word<W extends string>(entry: YamlEntry | undefined, words: readonly W[], otherwise: W): W {
    const text = this.text(entry);
    if (text === undefined) return otherwise;
    const word = words.find((one) => one === text);
    if (word === undefined)
      this.report(entry!.line, `${entry!.key}: ${JSON.stringify(text)} is none of: ${words.join(', ')}`);
    return word ?? otherwise;
  }

  selector(entry: YamlEntry | undefined): string | undefined {
    const selector = this.text(entry);
    const problem = selector === undefined ? undefined : selectorProblem(selector);
    if (problem !== undefined)
      this.report(entry!.line, `${entry!.key}: ${selector} is no CSS selector: ${problem}`);
    return selector;
  }

  /** @param inRows columns are read within rows, each its own element */
  column(entry: YamlEntry, inRows: boolean): {plan: ColumnPlan; column: Column} | undefined {
    const {key: name, line, entries} = entry;
    const problem = columnNameProblem(name);
    if (problem !== undefined) this.report(line, `column ${name}: ${problem}`);
    if (!entries) {
      this.report(line, `column ${name}: it must hold keys, as {select: h1}`);
      return undefined;
    }
    const given = new Map(entries.map((one) => [one.key, one]));
    for (const one of entries)
      if (!columnKeys.includes(one.key))
        this.report(one.line, `column ${name}: unknown key ${one.key}${meant(one.key, columnKeys)}`);
    const select = this.selector(given.get('select'));
    if (!inRows && !given.has('select'))
      this.report(line, `column ${name}: select is missing, and there are no rows`);
    const type = this.word(given.get('type'), Object.keys(yamlTypes) as YamlType[], 'text');
    const all = this.flag(given.get('all'));
    if (all && type !== 'text' && type !== 'url')
      this.report(given.get('all')!.line, `column ${name}: all is for text and url`);
    const decimal = this.word(given.get('decimal'), ['point', 'comma'], 'point');
    if (given.has('decimal') && !['count', 'int32', 'double'].includes(type))
      this.report(given.get('decimal')!.line, `column ${name}: decimal is for numbers`);
    const attribute = this.text(given.get('attribute'));
    const match = this.#pattern(given.get('match'));
    const required = this.flag(given.get('required'));
    return {
      plan: {
        name,
        type,
        all,
        required,
        decimal,
        ...(select === undefined ? {} : {select}),
        ...(attribute === undefined ? {} : {attribute: attribute.toLowerCase()}),
        ...(match === undefined ? {} : {match}),
      },
      column: {
        type: all ? 'json' : yamlTypes[type],
        doc: this.text(given.get('doc')) ?? '',
        ...(required || all || type === 'boolean' ? {} : {nullable: true}),
      },
    };
  }

  #pattern(entry: YamlEntry | undefined): Pattern | undefined {
    const source = this.text(entry);
    if (source === undefined) return undefined;
    try {
      return compilePattern(source, {file: this.#file, line: entry!.line});
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      this.#problems.push(error.message); // with its place
      return undefined;
    }
  }
}

function* extractRows(
  page: ExtractPage,
  rows: string | undefined,
  plans: readonly ColumnPlan[],
): Generator<Record<string, unknown>> {
  const elements: (Document | Element)[] = rows === undefined ? [page.dom] : page.select(rows);
  for (const element of elements) {
    const row: Record<string, unknown> = {};
    let complete = true;
    for (const plan of plans) {
      const value = cellOf(page, element, plan);
      row[plan.name] = value;
      if (plan.required && (value === null || (Array.isArray(value) && value.length === 0))) complete = false;
    }
    if (complete) yield row;
  }
}

function cellOf(page: ExtractPage, row: Document | Element, plan: ColumnPlan): unknown {
  if (plan.all) {
    const found = plan.select === undefined ? [row] : page.select(plan.select, row);
    return found.map((element) => read(page, element, plan)).filter((value) => value !== null);
  }
  const element = plan.select === undefined ? row : page.first(plan.select, row);
  return plan.type === 'boolean' ? isThere(page, element, plan) : element && read(page, element, plan);
}

/** Whether there is an element, with the attribute and the match that are asked for. */
function isThere(page: ExtractPage, element: Document | Element | null, plan: ColumnPlan): boolean {
  if (element === null) return false;
  return plan.attribute === undefined && plan.match === undefined
    ? true
    : textOf(page, element, plan) !== null;
}

function read(page: ExtractPage, element: Document | Element, plan: ColumnPlan): unknown {
  const text = textOf(page, element, plan);
  if (text === null) return null;
  switch (plan.type) {
    case 'text':
    case 'boolean':
      return text;
    case 'url':
      return page.resolve(text);
    case 'double':
      return numberIn(text, plan.decimal);
    case 'count':
    case 'int32': {
      const value = numberIn(text, plan.decimal);
      const whole = value !== null && Number.isSafeInteger(value);
      return whole && (plan.type === 'count' || Math.abs(value) < 2 ** 31) ? value : null;
    }
    case 'timestamp':
      return dateIn(text);
    default:
      return plan.type satisfies never;
  }
}

function textOf(
  page: ExtractPage,
  element: Document | Element,
  {attribute, type, match}: ColumnPlan,
): string | null {
  const attributes = 'attribs' in element ? element.attribs : {};
  const given =
    attribute !== undefined
      ? attributes[attribute]
      : type === 'url'
        ? (attributes.href ?? attributes.src)
        : type === 'timestamp'
          ? (attributes.datetime ?? page.text(element))
          : page.text(element);
  const text = given?.trim() ?? '';
  if (text === '') return null;
  return match === undefined ? text : match.find(text);
}
