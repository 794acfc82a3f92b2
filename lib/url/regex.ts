import {RE2JS} from 're2js';
import {CrawlError} from '../errors.ts';

/**
 * Regular expressions of operators, by an engine that takes linear time whatever the pattern: RE2's syntax,
 * which is Java's without back-references and look-around.
 */
export interface Pattern {
  readonly source: string;
  /** Found anywhere in the text. */
  test(text: string): boolean;
  /** Matches the whole text. */
  testWhole(text: string): boolean;
  /** The first match: its first group where the pattern has groups, else the whole of it; null without one. */
  find(text: string): string | null;
  /** All matches replaced, in Java's syntax: `$1` and `${name}` are groups, `\\$` is a dollar. */
  replace(text: string, replacement: string): string;
  /** What is wrong with a replacement: it names a group that the pattern has not. Undefined if nothing is. */
  replacementProblem(replacement: string): string | undefined;
}

/** @param where file and line, for the message of a bad pattern */
export function compilePattern(
  source: string,
  where: {readonly file: string; readonly line: number},
): Pattern {
  let re: RE2JS;
  try {
    // Java's intersection of classes would be taken for other characters, without an error
    if (/\[[^\]]*&&\[/.test(source)) throw new Error('no intersection of classes (&&)');
    re = RE2JS.compile(source);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new CrawlError(
      'CONFIG_INVALID',
      `${where.file}:${where.line}: bad regular expression ${source}: ${problem}`,
      {
        facts: {file: where.file, line: where.line, pattern: source},
        hint: /\\[1-9]|\(\?[=!<]/.test(source)
          ? 'Back-references and look-around have no bound on their time and are not taken; for repeated path segments use: - repeats 3'
          : 'Patterns are RE2’s: Java’s without back-references and look-around.',
        cause,
      },
    );
  }
  return {
    source,
    test: (text) => re.test(text),
    testWhole: (text) => re.testExact(text),
    find: (text) => {
      const matcher = re.matcher(text);
      return matcher.find() ? (matcher.group(re.groupCount() > 0 ? 1 : 0) ?? null) : null;
    },
    replace: (text, replacement) => re.matcher(text).replaceAll(replacement, true),
    replacementProblem: (replacement) => {
      for (const [part, digit, name, bare] of replacement.matchAll(
        /\\[\s\S]|\$(?:(\d)|\{(\w+)\})|([\\$])/g,
      )) {
        if (bare !== undefined) return 'a $ or \\ that means itself is written \\$ or \\\\';
        if (digit !== undefined && Number(digit) > re.groupCount()) return `no group ${part}`;
        if (name !== undefined && !Object.hasOwn(re.namedGroups(), name)) return `no group ${part}`;
      }
      return undefined;
    },
  };
}
