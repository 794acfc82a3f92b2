import {ownCopy} from './own-copy.ts';

/**
 * A function of a text that remembers what it found. At `most` texts all is forgotten, so that memory is bounded.
 *
 * @param find gets the text in memory of its own, so that what is remembered keeps no page alive
 */
export function remembered<V extends NonNullable<unknown>>(
  most: number,
  find: (text: string) => V,
): (text: string) => V {
  const known = new Map<string, V>();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      const own = ownCopy(text);
      found = find(own);
      if (known.size >= most) known.clear();
      known.set(own, found);
    }
    return found;
  };
}
