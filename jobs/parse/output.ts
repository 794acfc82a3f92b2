import {addCounters, type Counters} from '../../lib/counters.ts';
import type {PageInput} from '../../lib/parse/page.ts';
import type {Received} from '../../lib/parse/receive.ts';
import {type Outlink, outlinks} from '../../lib/schema/outlinks.ts';
import {type ParseRow, parse} from '../../lib/schema/parse.ts';
import type {Reason} from '../../lib/schema/reason.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import type {TableFile} from '../../lib/store/store.ts';
import type {TaskContext} from '../job.ts';
import {type ExtractCapture, type Extraction, pageLinks} from './extraction.ts';

/** Captures to rows: what a task's output asks for. */
export interface CaptureParser<C> {
  readonly counters: Counters;
  readonly reasons: Partial<Record<Reason, number>>;
  input(capture: C, payload: Uint8Array): PageInput;
  /** @param received gives the capture with its coding undone */
  page(capture: C, input: PageInput, received: () => Received): [ParseRow, readonly Outlink[]];
  receive(input: PageInput): Received;
  skipped(capture: C, reason: 'empty' | 'parse_failed', detail: string): [ParseRow, readonly Outlink[]];
  redirect(capture: C): readonly Outlink[];
}

/**
 * Where the captures of a task go: into the two files of the parse, to extractors, or both. Rows go to the files page
 * by page: what is held longer outlives the cheap collections.
 */
export class TaskOutput<C extends ExtractCapture> {
  readonly #parser: CaptureParser<C>;
  /** Absent: extractors alone run, beside a parse that is there. */
  readonly #files:
    | {readonly pages: TableFile<typeof parse>; readonly links: TableFile<typeof outlinks>}
    | undefined;
  readonly #extraction: Extraction | undefined;

  private constructor(
    parser: CaptureParser<C>,
    files: {readonly pages: TableFile<typeof parse>; readonly links: TableFile<typeof outlinks>} | undefined,
    extraction: Extraction | undefined,
  ) {
    this.#parser = parser;
    this.#files = files;
    this.#extraction = extraction;
  }

  /** @param parser in a task of extractors alone one that guards nothing: it runs while an extractor does */
  static async open<C extends ExtractCapture>(
    {
      segment,
      parseId,
      parsed,
    }: {readonly segment: string; readonly parseId: string; readonly parsed: boolean},
    parser: CaptureParser<C>,
    extraction: Extraction | undefined,
    ctx: TaskContext,
  ): Promise<TaskOutput<C>> {
    const files = parsed
      ? undefined
      : {
          pages: await ctx.store.create(parse, `segments/${segment}/parse/${parseId}`),
          links: await ctx.store.create(outlinks, `segments/${segment}/outlinks/${parseId}`),
        };
    return new TaskOutput(parser, files, extraction);
  }

  async redirect(capture: C): Promise<void> {
    await this.#files?.links.write(this.#parser.redirect(capture));
  }

  async page(capture: C, payload: Uint8Array): Promise<void> {
    const input = this.#parser.input(capture, payload);
    // Undone once, for the parse and for extractors
    let held: Received | undefined;
    const received = (): Received => {
      held ??= this.#parser.receive(input);
      return held;
    };
    const done = this.#files === undefined ? undefined : this.#parser.page(capture, input, received);
    if (done !== undefined) await this.#add(...done);
    if (this.#extraction === undefined) return;
    await this.#extraction.page(capture, {
      input,
      received,
      parse: () => {
        const [row, links] = done ?? this.#parser.page(capture, input, received);
        return {columns: row, links: pageLinks(links), base: row.base_url};
      },
    });
  }

  /** A capture without a payload that could be read. */
  async none(capture: C, reason: 'empty' | 'parse_failed', detail: string): Promise<void> {
    if (this.#files !== undefined) await this.#add(...this.#parser.skipped(capture, reason, detail));
    await this.#extraction?.none(capture, reason, detail);
  }

  get counters(): Counters {
    const counters: Record<string, number> = this.#files === undefined ? {} : {...this.#parser.counters};
    if (this.#extraction !== undefined) addCounters(counters, this.#extraction.counters);
    return counters;
  }

  get reasons(): Partial<Record<Reason, number>> {
    const reasons: Record<string, number> = this.#files === undefined ? {} : {...this.#parser.reasons};
    if (this.#extraction !== undefined) addCounters(reasons, this.#extraction.reasons);
    return reasons;
  }

  async close(): Promise<FileRef[]> {
    const files =
      this.#files === undefined ? [] : [await this.#files.pages.close(), await this.#files.links.close()];
    return [...files, ...((await this.#extraction?.close()) ?? [])];
  }

  async discard(): Promise<void> {
    await this.#files?.pages.discard();
    await this.#files?.links.discard();
    await this.#extraction?.discard();
  }

  async #add(page: ParseRow, links: readonly Outlink[]): Promise<void> {
    await this.#files!.pages.write([page]); // asked for by those who have them
    await this.#files!.links.write(links);
  }
}
