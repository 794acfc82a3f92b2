/** An entry keeps its own place in the heap, so that it can be moved or taken out in O(log n). */
export interface HeapEntry {
  /** Set by the heap; -1 outside of it. */
  place: number;
}

/** Binary heap of entries, least first by `before`. Push, pop, move and remove are O(log n). */
export class Heap<T extends HeapEntry> {
  readonly #entries: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#entries.length;
  }

  get first(): T | undefined {
    return this.#entries[0];
  }

  push(entry: T): void {
    entry.place = this.#entries.push(entry) - 1;
    this.#up(entry.place);
  }

  /** To be called after what `before` looks at has changed. */
  moved(entry: T): void {
    this.#up(entry.place);
    this.#down(entry.place);
  }

  remove(entry: T): void {
    const place = entry.place;
    if (place < 0) return;
    const last = this.#entries.pop()!;
    entry.place = -1;
    if (last === entry) return;
    this.#entries[place] = last;
    last.place = place;
    this.moved(last);
  }

  /**
   * Entries of which `takes` is true, near the top first; not in full order.
   * @param takes false for an entry means false for all that come after it
   */
  top(takes: (entry: T) => boolean, most: number): T[] {
    const found: T[] = [];
    const places = [0];
    for (let at = 0; at < places.length && found.length < most; at++) {
      const place = places[at]!;
      const entry = this.#entries[place];
      if (entry === undefined || !takes(entry)) continue;
      found.push(entry);
      places.push(2 * place + 1, 2 * place + 2);
    }
    return found;
  }

  #up(start: number): void {
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#before(this.#entries[place]!, this.#entries[parent]!)) return;
      this.#swap(place, parent);
      place = parent;
    }
  }

  #down(start: number): void {
    let place = start;
    for (;;) {
      let least = place;
      for (const child of [2 * place + 1, 2 * place + 2])
        if (child < this.#entries.length && this.#before(this.#entries[child]!, this.#entries[least]!))
          least = child;
      if (least === place) return;
      this.#swap(place, least);
      place = least;
    }
  }

  #swap(a: number, b: number): void {
    const entryA = this.#entries[a]!;
    const entryB = this.#entries[b]!;
    this.#entries[a] = entryB;
    this.#entries[b] = entryA;
    entryB.place = a;
    entryA.place = b;
  }
}
