import type {CaptureSink} from '../../lib/fetcher/settings.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import type {JournalWriter} from '../../lib/store/journal.ts';

/** Chosen: four batches of the journal, so that large payloads do not pile up before a slow disk. */
const mostPendingBytes = 32 * 2 ** 20;
const mostPending = 64;

/** Rows on their way into the journal; the fetch pauses while it writes. */
export class JournalSink implements CaptureSink {
  readonly #journal: JournalWriter;
  readonly #sealer: {check(): void};
  #pending = 0;
  #pendingBytes = 0;
  #last: Promise<void> = Promise.resolve();
  #error: {readonly error: unknown} | null = null;

  /** @param sealer asked before each row whether it has failed */
  constructor(journal: JournalWriter, sealer: {check(): void}) {
    this.#journal = journal;
    this.#sealer = sealer;
  }

  append(capture: Capture, payload: Uint8Array | null): void {
    if (this.#error) throw this.#error.error;
    this.#sealer.check();
    const waiting = this.#journal.append(capture, payload);
    if (waiting === null) return;
    const bytes = payload?.length ?? 0;
    this.#pending++;
    this.#pendingBytes += bytes;
    this.#last = waiting
      .catch((error: unknown) => {
        this.#error ??= {error};
      })
      .then(() => {
        this.#pending--;
        this.#pendingBytes -= bytes;
      });
  }

  /** An append that is not taken over at once waits for the disk, and so do we. */
  get pressure(): Promise<void> | null {
    return this.#pending > mostPending || this.#pendingBytes > mostPendingBytes ? this.#last : null;
  }

  async settled(): Promise<void> {
    await this.#last;
    if (this.#error) throw this.#error.error;
  }
}
