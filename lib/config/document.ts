import {
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  stringify,
  type YAMLError,
} from 'yaml';

/** crawl.yaml and other YAML as text: the only file that knows the YAML library. */

/** A key with its place and its value. */
export interface YamlEntry {
  readonly key: string;
  /** From 1. */
  readonly line: number;
  /** Undefined where the value is no map. Null where there is none at all. */
  readonly entries: readonly YamlEntry[] | undefined | null;
  /** The value as plain data. */
  readonly data: unknown;
}

export interface YamlProblem {
  readonly line: number;
  readonly problem: string;
}

/**
 * The top-level entries of a YAML text, or what is wrong with it. Keys given twice are a problem; aliases are resolved.
 *
 * @param levels maps in each other that are given as entries; what lies deeper is data
 */
export function readYaml(
  text: string,
  levels = 2,
): {entries: readonly YamlEntry[]} | {problems: readonly YamlProblem[]} {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    strict: true,
    uniqueKeys: true,
  });
  const lineOf = (offset: number | undefined) => lines.linePos(offset ?? 0).line || 1;
  // Warnings too (as an unresolved tag): nothing in the file may be passed over
  const failures = [...document.errors, ...document.warnings];
  if (failures.length > 0)
    return {
      problems: failures.map((error) => ({line: lineOf(error.pos[0]), problem: problemOf(error, text)})),
    };
  const unread: YamlProblem[] = [];
  const root = entriesOf(document.contents);
  if (unread.length > 0) return {problems: unread};
  if (root === null) return {entries: []};
  return root
    ? {entries: root}
    : {
        problems: [
          {
            line: 1,
            problem:
              levels === 2 ? 'the file must hold sections, as `politeness:`' : 'the file must hold keys',
          },
        ],
      };

  /** Sections and settings; what lies deeper is data, and may hold itself by an alias. */
  function entriesOf(value: unknown, depth = 0): YamlEntry[] | undefined | null {
    const node = isAlias(value) ? value.resolve(document) : value;
    if (node === null || (isScalar(node) && node.value === null)) return null;
    if (!isMap(node) || depth >= levels) return undefined;
    return node.items.map((pair) => {
      const key = pair.key as Node;
      const value = pair.value as Node | null;
      return {
        key: isScalar(key) ? String(key.value) : String(key),
        line: lineOf(key.range?.[0]),
        entries: entriesOf(value, depth + 1),
        data: dataOf(value, lineOf(key.range?.[0])),
      };
    });
  }

  /** Aliases are resolved only here, so that a missing anchor, or a bomb of them, shows only here. */
  function dataOf(value: Node | null, line: number): unknown {
    try {
      return value === null ? null : value.toJS(document, {maxAliasCount: 100});
    } catch (error) {
      unread.push({line, problem: firstLine(error instanceof Error ? error.message : String(error))});
      return null;
    }
  }
}

/** The library's message, or ours where it speaks of its own functions or leaves the key out. */
function problemOf({code, message, pos}: YAMLError, text: string): string {
  if (code === 'DUPLICATE_KEY') return `${/^[^\s:,}]*/.exec(text.slice(pos[0]))?.[0]} is given twice`;
  if (code === 'MULTIPLE_DOCS') return 'the file must be one document: there is a second one after ---';
  return firstLine(message);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!;
}

/** A value as YAML on one line. */
export function flowYaml(value: unknown): string {
  return stringify(value, {collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false}).trimEnd();
}
