/** Number of insertions, deletions, replacements and swaps of neighbours between two words (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({length: b.length + 1}, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, rows[i - 2]![j - 2]! + 1);
      row.push(best);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/**
 * The known word that was probably meant, or undefined when none is near: at most a third of its letters
 * (at least two) differ. Case, `-` and `_` do not count. The first of equally near words wins.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '');
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = editDistance(plain(word), plain(candidate));
    // chosen: a third of the letters catches typos without offering unrelated words
    if (
      distance <= Math.max(2, Math.floor(candidate.length / 3)) &&
      distance < least &&
      distance < candidate.length
    ) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}
