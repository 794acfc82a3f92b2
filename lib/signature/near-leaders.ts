/**
 * Groups of things that are like each other, from pairs: going from the best to the worst, a thing that is like one
 * that leads follows the best such one; another leads itself. So no chain makes two things equal that are not alike:
 * each follower is like its leader.
 *
 * Pairs come in order of the worse one's rank, then the better one's; a rank counts from 0, the best.
 */
export function nearLeaders(): NearLeaders {
  return new NearLeaders();
}

class NearLeaders {
  /** Followers and their leaders. Who is not in it leads, or is like nobody. */
  readonly #leaders = new Map<number, number>();
  #last = -1;

  add(worse: number, better: number): void {
    if (worse < this.#last || better >= worse) throw new Error(`pair ${worse}, ${better} is out of order`);
    this.#last = worse;
    if (!this.#leaders.has(worse) && !this.#leaders.has(better)) this.#leaders.set(worse, better);
  }

  followers(): IterableIterator<[follower: number, leader: number]> {
    return this.#leaders.entries();
  }
}
