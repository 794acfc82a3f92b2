import type {Config} from '../jobs/config/open.ts';
import type {Output} from './output.ts';

/** What a checker works with: the configuration and rule files of the crawl, or the defaults where there is no crawl. */
export interface CheckSettings {
  readonly config: Config;
  /** Folder that names of rule files are relative to. */
  readonly dir: string;
}

/** A question as JSON has it. */
export type Question = Readonly<Record<string, unknown>>;
/** An answer as JSON has it. */
export type Answer = object;

/** One kind of `crawl check`: questions from arguments or from JSON lines, each with one answer. */
export interface Checker {
  /** Answers; throws {@link BadQuestion} for an object that is no question. */
  ask(question: Question): Answer | Promise<Answer>;
  /** The answer for people, lines without the last line end. */
  show(question: Question, answer: Answer, colours: Output['colours']): string;
}

/** A question that is none: what is wrong with it. */
export class BadQuestion extends Error {}

const isText = (value: unknown): value is string => typeof value === 'string';

/** A text of the question, which must be there. */
export function textOf(question: Question, name: string): string {
  const value = question[name];
  if (!isText(value)) throw new BadQuestion(`"${name}" must be a text`);
  return value;
}

/** A text of the question; null where it is absent or null. */
export function optionalText(question: Question, name: string): string | null {
  return question[name] === undefined || question[name] === null ? null : textOf(question, name);
}

/** Bytes of the question as base64; null where they are absent or null. */
export function optionalBytes(question: Question, name: string): Buffer | null {
  const text = optionalText(question, name);
  if (text === null) return null;
  if (/[^\w+/=\s-]/.test(text)) throw new BadQuestion(`"${name}" must be base64`);
  return Buffer.from(text, 'base64');
}

/** One of some words; null where it is absent or null. */
export function optionalWord<W extends string>(
  question: Question,
  name: string,
  words: readonly W[],
): W | null {
  const value = optionalText(question, name);
  const word = words.find((one) => one === value);
  if (value !== null && word === undefined)
    throw new BadQuestion(`"${name}" must be one of: ${words.join(', ')}`);
  return word ?? null;
}

/** A whole number from 0; null where it is absent or null. */
export function optionalCount(question: Question, name: string): number | null {
  const value = question[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new BadQuestion(`"${name}" must be a whole number`);
  return value;
}
