/** Name of the group of all URLs whose seed has no group or tag with a weight of its own. */
export const otherGroup = '*';

/** Most that one group may weigh against another: beyond it the lighter one would in truth get nothing. */
const maxWeight = 1_000_000;

/** What is wrong with the weight of a group, or undefined. */
export function shareProblem(name: string, text: string): string | undefined {
  const weight = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (weight > 0 && weight <= maxWeight) return undefined;
  return `the weight of ${name} is ${text === '' ? 'empty' : text}; it must be a number above 0 and at most ${maxWeight}`;
}

/** Weights by name, from texts that {@link shareProblem} has nothing against. */
export function sharesOf(texts: Readonly<Record<string, string>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Number(text)]));
}
