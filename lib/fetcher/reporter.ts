import type {Progress} from '../effects.ts';
import {type HostFigures, hostFigures, progressPoint, standstill} from './progress.ts';
import type {FetchState} from './state.ts';

const progressMs = 250; // chosen: as often as a terminal is worth redrawing
const figuresMs = 1000; // chosen: beside it the look at 100,000 hosts takes one percent

/** What holds back all requests. */
export interface Standing {
  readonly now: number;
  readonly outage: boolean;
  /** When the hours let requests be sent; `now` or earlier: now. */
  readonly open: number;
  /** When the rates do. */
  readonly free: number;
}

/** Tells how a fetch goes on, as often as somebody looks. */
export class Reporter {
  readonly #state: FetchState;
  readonly #progress: (point: Progress) => void;
  #begun = 0;
  #doneBefore = 0;
  #next = 0;
  #figures: HostFigures | null = null;
  #nextFigures = 0;

  constructor(state: FetchState, progress: (point: Progress) => void) {
    this.#state = state;
    this.#progress = progress;
  }

  /** The fetch begins; what has its outcome by now is no work of it. */
  begin(now: number): void {
    this.#begun = now;
    this.#doneBefore = this.#state.worklist.done;
  }

  isDue(now: number): boolean {
    return now >= this.#next;
  }

  report(standing: Standing, last: boolean): void {
    const {now} = standing;
    this.#next = now + progressMs;
    const {worklist, queues, tally, hosts} = this.#state;
    if (last) this.#figures = null;
    else if (now >= this.#nextFigures) {
      this.#figures = hostFigures(hosts, now);
      this.#nextFigures = now + figuresMs;
    }
    const {done, listed} = worklist;
    const {active} = queues;
    const elapsed = (now - this.#begun) / 1000;
    const figures = this.#figures;
    this.#progress(
      progressPoint(
        {done, listed, active, bytes: tally.counters.body_bytes_total ?? 0},
        figures,
        elapsed > 0 ? (done - this.#doneBefore) / elapsed : 0,
        figures === null ? null : standstill({...standing, active, figures}),
      ),
    );
  }
}
