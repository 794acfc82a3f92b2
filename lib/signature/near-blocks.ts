/**
 * Masks by which all pairs of 64-bit fingerprints are found that differ in at most `distance` bits: the bits are cut
 * into blocks, and two such fingerprints agree in all but `distance` of them. Each mask keeps some blocks, all ways to
 * choose them together; a pair agrees in at least one.
 *
 * More blocks make masks wider, so fewer pairs agree by chance, but there are more masks. The number is chosen so that
 * a fingerprint meets few others: about `count` / 2^(bits of a mask).
 *
 * @param count how many fingerprints there are
 * @see Manku, Jain, Das Sarma, Detecting near-duplicates for web crawling, 2007, section 3
 */
export function nearMasks(distance: number, count: number): readonly bigint[] {
  if (distance === 0) return [all];
  for (let blocks = distance + 1; ; blocks++) {
    const kept = blocks - distance;
    const bits = Math.floor((64 * kept) / blocks);
    const masks = choose(blocks, kept);
    // Chosen: at most 8 chance meetings, or, where masks get too many, those that there are
    if (count / 2 ** bits <= 8 || masks > 40) return masksOf(blocks, kept);
  }
}

const all = 2n ** 64n - 1n;

function choose(n: number, k: number): number {
  let product = 1;
  for (let i = 1; i <= k; i++) product = (product * (n - k + i)) / i;
  return Math.round(product);
}

function masksOf(blocks: number, kept: number): bigint[] {
  const parts = Array.from({length: blocks}, (_, block) => {
    const from = Math.floor((64 * block) / blocks);
    const to = Math.floor((64 * (block + 1)) / blocks);
    return ((1n << BigInt(to - from)) - 1n) << BigInt(from);
  });
  const masks: bigint[] = [];
  const extend = (from: number, left: number, mask: bigint): void => {
    if (left === 0) masks.push(mask);
    else for (let at = from; at <= blocks - left; at++) extend(at + 1, left - 1, mask | parts[at]!);
  };
  extend(0, kept, 0n);
  return masks;
}
