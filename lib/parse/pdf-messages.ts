/** What the reader of PDFs and its thread tell each other: plain data. */

export interface PdfBounds {
  /** Milliseconds for one file. */
  readonly timeMs: number;
  /** Bytes of memory for one file. */
  readonly memory: number;
}

/** A PDF to read. */
export interface PdfOrder {
  readonly bytes: Uint8Array;
  /** Characters of text after which no further page is read. */
  readonly maxText: number;
  /** Links after which no further page is read. */
  readonly maxLinks: number;
}

/** What a PDF says of itself. */
export interface PdfFacts {
  readonly pages: number;
  readonly title: string | null;
  readonly subject: string | null;
  readonly lang: string | null;
  /** Dates as written: `D:20260102030405+01'00'`. */
  readonly created: string | null;
  readonly modified: string | null;
}

export interface PdfPage {
  /** Lines end with CR LF. */
  readonly text: string;
  readonly links: readonly PdfLink[];
}

export interface PdfLink {
  readonly href: string;
  /** Text under the link; null: the URL stands in the text and is no link. */
  readonly anchor: string | null;
}

/** In this order: facts, pages, then done or failed. */
export type PdfMessage =
  | {readonly type: 'facts'; readonly facts: PdfFacts}
  | {readonly type: 'page'; readonly page: PdfPage}
  /** `cut`: there were more pages than were wanted. */
  | {readonly type: 'done'; readonly cut: boolean}
  | {readonly type: 'failed'; readonly detail: string};

/** What the thread is started with. */
export interface PdfThreadData {
  readonly port: import('node:worker_threads').MessagePort;
  /** Raised, with a notify, by each message of the thread. */
  readonly told: Int32Array;
  /** Bytes of memory that reading may take. */
  readonly maxMemory: number;
}
