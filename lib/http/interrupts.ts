/**
 * Who is to be stopped when a signal aborts. One listener a signal, however many exchanges hang on it: thousands share
 * the job's signal, and a listener each would be slow to remove and warned about by Node.
 */
export class Interrupts<T> {
  readonly #stop: (waiting: T) => void;
  readonly #waiting = new WeakMap<AbortSignal, Set<T>>();

  constructor(stop: (waiting: T) => void) {
    this.#stop = stop;
  }

  add(signal: AbortSignal, waiting: T): void {
    const known = this.#waiting.get(signal);
    if (known !== undefined) {
      known.add(waiting);
      return;
    }
    const all = new Set([waiting]);
    this.#waiting.set(signal, all);
    signal.addEventListener(
      'abort',
      () => {
        for (const one of [...all]) this.#stop(one);
      },
      {once: true},
    );
  }

  remove(signal: AbortSignal, waiting: T): void {
    this.#waiting.get(signal)?.delete(waiting);
  }
}
