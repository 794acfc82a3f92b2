import type {Effects} from '../effects.ts';

/** Chosen: how often a loop that only waits looks at the disk, at rules by hand, and reports progress. */
const tickMs = 2500;

/** Lets a loop wait for one of several things, without a timer for each wait. */
export class Waiter {
  readonly #effects: Pick<Effects, 'sleep' | 'signal'>;
  readonly #failed: (error: unknown) => void;
  #wake: (() => void) | null = null;
  #ticker: AbortController | null = null;
  #stopped = false;

  /** @param failed told of an error of the clock, before the loop is woken */
  constructor(effects: Pick<Effects, 'sleep' | 'signal'>, failed: (error: unknown) => void) {
    this.#effects = effects;
    this.#failed = failed;
  }

  /** Wakes the loop, if it waits. */
  wake(): void {
    this.#wake?.();
  }

  /** From now on only `wake` ends a wait: the clock of a fetch that was stopped no longer runs. */
  stop(): void {
    this.#stopped = true;
    this.#ticker?.abort();
    this.wake();
  }

  /** Waits for something to happen: a request that ends, a stop, the next tick; at most `ms`. */
  async pause(ms: number): Promise<void> {
    if (ms <= 0) return;
    const happened = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#tick();
    const timer = ms < tickMs && !this.#stopped ? new AbortController() : undefined;
    if (timer) void this.#sleep(ms, timer.signal);
    await happened;
    this.#wake = null;
    timer?.abort();
  }

  /** Lets everybody else have a turn. */
  async breathe(): Promise<void> {
    if (!this.#stopped) await this.#effects.sleep(0).catch(() => undefined); // a stop is seen by the loop
  }

  /** Wakes the loop now and then while it waits: to look at the disk, and to report progress. */
  #tick(): void {
    if (this.#ticker || this.#stopped) return;
    this.#ticker = new AbortController();
    void this.#sleep(tickMs, this.#ticker.signal).finally(() => {
      this.#ticker = null;
    });
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#effects.sleep(ms, signal);
      // A clock that is moved by hand must leave sockets their turn.
      await new Promise(setImmediate);
      if (signal.aborted) return;
      this.wake();
    } catch (error) {
      if (signal.aborted || this.#effects.signal.aborted) return;
      this.#failed(error);
      this.wake();
    }
  }
}
