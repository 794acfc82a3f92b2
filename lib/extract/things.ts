/** Depth in JSON-LD that is looked into. Chosen: product, offer, seller, address and some more. */
const maxDepth = 10;
/** Values that are looked at in a page. Chosen: 256 KiB of JSON-LD are fewer. */
const maxValues = 50_000;

/**
 * Objects of JSON-LD whose type is the one given, in the order of the document, wherever they stand: in the blocks,
 * in lists and graphs, or as the value of another thing. Below one that was found nothing more is looked for.
 *
 * @param type bare name, as `Product`; with the address of a vocabulary it is the same
 */
export function thingsOf(blocks: readonly unknown[], type: string): Readonly<Record<string, unknown>>[] {
  const found: Readonly<Record<string, unknown>>[] = [];
  let seen = 0;
  const look = (value: unknown, depth: number): void => {
    if (depth > maxDepth || ++seen > maxValues || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const one of value) look(one, depth + 1);
      return;
    }
    const thing = value as Readonly<Record<string, unknown>>; // any object of JSON
    if (isOfType(thing['@type'], bareName(type))) found.push(thing);
    else for (const one of Object.values(thing)) look(one, depth + 1);
  };
  look(blocks, 0);
  return found;
}

function isOfType(declared: unknown, type: string): boolean {
  if (Array.isArray(declared)) return declared.some((one) => isOfType(one, type));
  return typeof declared === 'string' && bareName(declared) === type;
}

/** `https://schema.org/Product` and `schema:Product` are `Product`. */
function bareName(type: string): string {
  return type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf('#'), type.lastIndexOf(':')) + 1);
}
