/**
 * Repeated path segments, the sign of links that go round in circles (`/a/b/a/b/a/b/`), in linear time.
 * Nutch's default rule finds them with the back-reference `(/.+?)/.*?\1/.*?\1/`.
 */

/**
 * Is there a segment, with a slash on both sides, that stands `times` times in the text without sharing a slash?
 * Or, as that pattern also finds, `times` times three slashes.
 */
export function repeatsSegment(text: string, times: number): boolean {
  // Each needs two slashes of its own: most URLs have too few, and are done with here.
  let slashes = 0;
  for (let at = text.indexOf('/'); at >= 0 && slashes < 2 * times; at = text.indexOf('/', at + 1)) slashes++;
  if (slashes < 2 * times) return false;
  const seen = new Map<string, {end: number; count: number}>();
  let tripleEnd = 0;
  let triples = 0;
  let slash = text.indexOf('/');
  let run = slash;
  while (slash >= 0) {
    const next = text.indexOf('/', slash + 1);
    if (next < 0) return false;
    if (next === slash + 1) {
      if (next - run >= 2 && next - 2 >= tripleEnd) {
        tripleEnd = next + 1;
        if (++triples >= times) return true;
      }
    } else {
      run = next;
      const segment = text.slice(slash, next);
      const known = seen.get(segment);
      if (known === undefined) {
        seen.set(segment, {end: next + 1, count: 1});
        if (times <= 1) return true;
      } else if (slash >= known.end) {
        known.end = next + 1;
        if (++known.count >= times) return true;
      }
    }
    slash = next;
  }
  return false;
}

/**
 * Is there a segment that stands `times` times with exactly one other segment between, as in `/a/x/a/y/a/`?
 * Nutch's older default: `(/[^/]+)/[^/]+\1/[^/]+\1/`.
 */
export function repeatsAlternately(text: string, times: number): boolean {
  const segments = text.split('/');
  // The last has no slash behind it, the first none before it; segments between must not be empty.
  const counts = new Int32Array(segments.length);
  for (let i = 1; i + 1 < segments.length; i++) {
    const segment = segments[i]!;
    if (segment === '') continue;
    counts[i] = i >= 3 && segments[i - 1] !== '' && segments[i - 2] === segment ? counts[i - 2]! + 1 : 1;
    if (counts[i]! >= times) return true;
  }
  return false;
}
