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
  /** All matches replaced; `$1` in the replacement is a group. */
  replace(text: string, replacement: string): string;
  /** Throws where the replacement names a group that the pattern has not. */
  check(replacement: string): void;
}

/** @param where file and line, for the message of a bad pattern */
export function compilePattern(
  source: string,
  where: {readonly file: string; readonly line: number},
): Pattern {
  let re: RE2JS;
  try {
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
    replace: (text, replacement) => re.matcher(text).replaceAll(replacement),
    check: (replacement) => {
      for (const [, group] of replacement.matchAll(/\\.|\$(\d+)/g))
        if (group !== undefined && Number(group) > re.groupCount()) throw new Error(`no group ${group}`);
    },
  };
}
