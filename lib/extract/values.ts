import {parseAnyDate} from '../http/http-date.ts';

/** Values that are read from a page's text, for extraction without code. */

/** White space and signs that group digits, besides comma and point. */
const grouping = " '\u00a0\u202f\u2009’";

const numbers = {
  point: new RegExp(`[-+\u2212]?(?:\\d{1,3}(?:[,${grouping}]\\d{3})+(?!\\d)|\\d+)(?:\\.\\d+)?`),
  comma: new RegExp(`[-+\u2212]?(?:\\d{1,3}(?:[.${grouping}]\\d{3})+(?!\\d)|\\d+)(?:,\\d+)?`),
};
export type DecimalSign = keyof typeof numbers;

/**
 * The first number in a text: `1,299.00 $` is 1299 with a decimal point, `1.299,00 €` with a comma. Null where there
 * is none.
 */
export function numberIn(text: string, sign: DecimalSign): number | null {
  const match = numbers[sign].exec(text);
  if (match === null) return null;
  const [digits = '', fraction] = match[0].split(sign === 'point' ? /\.(?=\d+$)/ : /,(?=\d+$)/);
  const value = Number(`${digits.replace('\u2212', '-').replace(/[^\d+-]/g, '')}.${fraction ?? '0'}`);
  return Number.isFinite(value) ? value : null;
}

/** A date in a form of HTTP, e-mail or ISO 8601; null for anything else. */
export function dateIn(text: string): Date | null {
  const time = parseAnyDate(text.trim());
  return time !== null && Math.abs(time) < 253_402_300_800_000 ? new Date(time) : null; // years of four digits
}
