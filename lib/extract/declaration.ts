import {nearest} from '../nearest.ts';
import type {Column, ColumnType, Table} from '../schema/table.ts';
import {isTaken, reservedWords} from './reserved.ts';

/** What an extractor declares of itself: plain data, kept with the files of its table. */
export interface Declaration {
  readonly name: string;
  readonly doc: string;
  readonly types: readonly string[];
  readonly columns: Readonly<Record<string, Column>>;
}

export const columnTypes: readonly ColumnType[] = [
  'text',
  'json',
  'bytes',
  'boolean',
  'int16',
  'int32',
  'count',
  'key',
  'double',
  'timestamp',
];

export const defaultTypes: readonly string[] = ['text/html', 'application/xhtml+xml'];
/** Columns of an extractor. Chosen: nobody means more, and each is a column chunk a task. */
const maxColumns = 500;

/** Columns that every extractor's table begins with. */
const ownColumns = {
  segment: {type: 'text', doc: 'Segment id.'},
  parse_id: {type: 'text', doc: 'Name of the parse that it stands beside.'},
  capture_id: {type: 'text', doc: 'Capture that the row was found in.'},
  host_key: {type: 'key', doc: 'Key of the host.'},
  url_key: {type: 'key', doc: 'Key of the URL.'},
  url: {type: 'text', doc: 'URL of the capture.'},
  position: {type: 'int32', doc: 'Place among the rows of the page, from 0.'},
} as const satisfies Readonly<Record<string, Column>>;

/** The table that a declaration stands for. */
export function tableOf({name, doc, columns}: Declaration): Table {
  return {
    name,
    version: 1,
    doc,
    columns: {...ownColumns, ...columns},
    key: ['host_key', 'url_key', 'capture_id', 'position'],
  };
}

/** A problem of a declaration, and the column that it is about. */
export interface DeclarationProblem {
  readonly column?: string;
  readonly problem: string;
}

/**
 * Name, sentence, types and columns of what a module exports, or all that is wrong with them.
 *
 * @param fallbackName name of the table where none is declared: the file's
 */
export function readDeclaration(
  value: Readonly<Record<string, unknown>>,
  fallbackName: string,
): {declaration: Declaration} | {problems: readonly DeclarationProblem[]} {
  const problems: DeclarationProblem[] = [];
  const known = ['name', 'doc', 'types', 'columns', 'extract'];
  for (const key of Object.keys(value))
    if (!known.includes(key)) problems.push({problem: `unknown key ${key}${meant(key, known)}`});
  const name = value.name ?? fallbackName.replaceAll('-', '_').toLowerCase();
  const problem = typeof name === 'string' ? tableNameProblem(name) : 'name must be a text';
  if (problem !== undefined) problems.push({problem});
  const doc = value.doc ?? '';
  if (typeof doc !== 'string') problems.push({problem: 'doc must be a text'});
  const types = value.types ?? defaultTypes;
  if (!Array.isArray(types) || types.length === 0 || !types.every(isTypePattern))
    problems.push({problem: 'types must be a list of content types, as [text/html] or ["image/*"] or ["*"]'});
  const columns = readColumns(value.columns, problems);
  if (problems.length > 0) return {problems};
  return {declaration: {name: name as string, doc: doc as string, types: types as string[], columns}}; // checked above
}

function readColumns(value: unknown, problems: DeclarationProblem[]): Record<string, Column> {
  const columns: Record<string, Column> = {};
  if (!isObject(value) || Object.keys(value).length === 0) {
    problems.push({problem: 'columns must name at least one column, as {heading: {type: "text"}}'});
    return columns;
  }
  if (Object.keys(value).length > maxColumns) problems.push({problem: `more than ${maxColumns} columns`});
  for (const [name, given] of Object.entries(value)) {
    const report = (problem: string) => problems.push({column: name, problem});
    const problem = columnNameProblem(name);
    if (problem !== undefined) report(problem);
    if (!isObject(given)) {
      report('it must be an object, as {type: "text"}');
      continue;
    }
    const {type, doc = '', nullable = false, values, unit, example, ...unknown} = given;
    for (const key of Object.keys(unknown))
      report(`unknown key ${key}${meant(key, ['type', 'doc', 'nullable', 'values', 'unit', 'example'])}`);
    if (!(columnTypes as readonly unknown[]).includes(type))
      report(`type ${JSON.stringify(type) ?? 'is missing: it'} must be one of: ${columnTypes.join(', ')}`);
    if (typeof doc !== 'string') report('doc must be a text');
    if (typeof nullable !== 'boolean') report('nullable must be true or false');
    if (unit !== undefined && typeof unit !== 'string') report('unit must be a text');
    if (example !== undefined && typeof example !== 'string') report('example must be a text');
    if (values !== undefined && (type !== 'text' || !isTexts(values)))
      report('values must be a list of texts, for a column of type text');
    columns[name] = {
      type: type as ColumnType, // told above where it is none
      doc: doc as string,
      ...(nullable === true ? {nullable: true} : {}),
      ...(values === undefined ? {} : {values: values as string[]}),
      ...(unit === undefined ? {} : {unit: unit as string}),
      ...(example === undefined ? {} : {example: example as string}),
    };
  }
  return columns;
}

/** What is wrong with the name of an extractor's table; undefined if nothing is. */
export function tableNameProblem(name: string): string | undefined {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name))
    return `the name ${JSON.stringify(name)} must be lower case letters, digits and underlines, at most 63, a letter first`;
  if (isTaken(name)) return `the name ${name} is that of a table of every crawl`;
  if (name.endsWith('_all')) return `the name ${name} may not end in _all: views of all parses do`;
  return reservedWords.has(name) ? `the name ${name} is a reserved word of SQL` : undefined;
}

/** What is wrong with the name of a column; undefined if nothing is. */
export function columnNameProblem(name: string): string | undefined {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name))
    return 'its name must be lower case letters, digits and underlines, at most 63, a letter first';
  if (Object.hasOwn(ownColumns, name)) return 'every extractor’s table has a column of that name already';
  return reservedWords.has(name) ? 'its name is a reserved word of SQL' : undefined;
}

/** Whether one of the declared types is that of a page. */
export function readsType(types: readonly string[], type: string): boolean {
  return types.some(
    (pattern) =>
      pattern === '*' ||
      pattern === '*/*' ||
      pattern === type ||
      (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1))),
  );
}

export function isTypePattern(value: unknown): value is string {
  return typeof value === 'string' && /^(?:\*|\*\/\*|[a-z0-9.+-]+\/(?:\*|[a-z0-9.+-]+))$/.test(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}

export function meant(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? `; known are ${known.join(', ')}` : `; did you mean ${near}?`;
}
