/**
 * Options of jobs and settings of crawl.yaml: each is declared once, with a kind; parser, check, help and
 * documents derive from the declaration. This file is the declaration; lib/kinds.ts parses the kinds.
 */
interface OptionTypes {
  flag: boolean;
  text: string;
  /** Whole number, 0 and up. */
  count: number;
  /** Any finite number. */
  number: number;
  /** Milliseconds; written `300ms 30s 5m 12h 30d`. */
  duration: number;
  /** Bytes; written `512 64KiB 10MiB 1GB`. */
  size: number;
  /** Per second; written `10/s 600/min 5MiB/s`. */
  rate: number;
  /** One of `values`. */
  choice: string;
  /** Texts; repeated or comma separated on the command line, a list in YAML. */
  list: readonly string[];
  /** Text to text; `KEY=VALUE` repeated on the command line, a map in YAML. */
  map: Readonly<Record<string, string>>;
}
export type OptionKind = keyof OptionTypes;

export interface OptionDeclaration {
  readonly kind: OptionKind;
  /** One sentence. */
  readonly doc: string;
  /** Absent: the option has no value unless given, and its type includes undefined. */
  readonly default?: boolean | string | number | readonly string[] | Readonly<Record<string, string>>;
  readonly values?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** One letter. */
  readonly short?: string;
}
export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>;

type OptionValue<D extends OptionDeclaration> = D extends {readonly values: readonly (infer V)[]}
  ? V
  : OptionTypes[D['kind']];

/** Values of declared options: `top-n` on the command line is `topN` here. */
export type OptionValues<O extends OptionDeclarations> = {
  readonly [K in keyof O]:
    | OptionValue<O[K]>
    | (O[K] extends {readonly default: NonNullable<unknown>} ? never : undefined);
};
