import {readFileSync} from 'node:fs';
import {init, type WrappedPdfiumModule} from '@embedpdf/pdfium';
import type {PdfFacts, PdfLink, PdfMessage, PdfOrder} from './pdf-messages.ts';

/**
 * PDFium in WebAssembly, in our words: it can reach nothing but its own memory, which has a bound. For the thread of
 * PDFs alone.
 *
 * @see https://pdfium.googlesource.com/pdfium/+/refs/heads/main/public/
 */
export class PdfReader {
  readonly #pdfium: WrappedPdfiumModule;
  readonly #heap: Heap;

  private constructor(pdfium: WrappedPdfiumModule) {
    this.#pdfium = pdfium;
    this.#heap = pdfium.pdfium as unknown as Heap; // its types want those of Emscripten, which are not there
  }

  static async open(): Promise<PdfReader> {
    const wasm = readFileSync(new URL(import.meta.resolve('@embedpdf/pdfium/pdfium.wasm')));
    const wasmBinary = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength);
    const pdfium = await init({wasmBinary, print: () => undefined, printErr: () => undefined});
    pdfium.PDFiumExt_Init();
    return new PdfReader(pdfium);
  }

  /** Bytes that it holds. They never become fewer. */
  get memory(): number {
    return this.#heap.HEAPU8.length;
  }

  /** Tells what a PDF says, page by page. Throws where memory ends: nothing can be read after that. */
  read({bytes, maxText, maxLinks}: PdfOrder, tell: (message: PdfMessage) => void): void {
    const heap = this.#heap;
    const file = this.#allocate(bytes.length);
    heap.HEAPU8.set(bytes, file);
    const document = this.#pdfium.FPDF_LoadMemDocument(file, bytes.length, '');
    try {
      if (document === 0) {
        tell({type: 'failed', detail: openErrors[this.#pdfium.FPDF_GetLastError()] ?? 'unknown error'});
        return;
      }
      const facts = this.#facts(document);
      tell({type: 'facts', facts});
      let text = 0;
      let links = 0;
      let at = 0;
      for (; at < facts.pages && text < maxText && links < maxLinks; at++) {
        const page = this.#page(document, at);
        text += page.text.length;
        links += page.links.length;
        tell({type: 'page', page});
      }
      tell({type: 'done', cut: at < facts.pages});
    } finally {
      if (document !== 0) this.#pdfium.FPDF_CloseDocument(document);
      heap.wasmExports.free(file);
    }
  }

  #facts(document: number): PdfFacts {
    const meta = (name: string) =>
      this.#text((buffer, length) => this.#pdfium.FPDF_GetMetaText(document, name, buffer, length));
    return {
      pages: this.#pdfium.FPDF_GetPageCount(document),
      title: meta('Title'),
      subject: meta('Subject'),
      lang: this.#text((buffer, length) => this.#pdfium.FPDFCatalog_GetLanguage(document, buffer, length)),
      created: meta('CreationDate'),
      modified: meta('ModDate'),
    };
  }

  #page(document: number, index: number): {text: string; links: PdfLink[]} {
    const page = this.#pdfium.FPDF_LoadPage(document, index);
    if (page === 0) return {text: '', links: []};
    const textPage = this.#pdfium.FPDFText_LoadPage(page);
    try {
      if (textPage === 0) return {text: '', links: this.#annotations(document, page, 0)};
      const characters = Math.max(0, this.#pdfium.FPDFText_CountChars(textPage));
      const text = this.#units(characters, (buffer) =>
        this.#pdfium.FPDFText_GetText(textPage, 0, characters, buffer),
      );
      return {text, links: [...this.#annotations(document, page, textPage), ...this.#written(textPage)]};
    } finally {
      if (textPage !== 0) this.#pdfium.FPDFText_ClosePage(textPage);
      this.#pdfium.FPDF_ClosePage(page);
    }
  }

  /** Links that a reader can click. */
  #annotations(document: number, page: number, textPage: number): PdfLink[] {
    const heap = this.#heap;
    const links: PdfLink[] = [];
    // Place in the list, and the link found there.
    const cells = this.#allocate(8 + 16);
    heap.HEAP32.fill(0, cells >> 2, (cells >> 2) + 2);
    while (links.length < maxLinksOfPage && this.#pdfium.FPDFLink_Enumerate(page, cells, cells + 4)) {
      const link = heap.HEAP32[(cells >> 2) + 1]!;
      const action = this.#pdfium.FPDFLink_GetAction(link);
      if (action === 0 || this.#pdfium.FPDFAction_GetType(action) !== uriAction) continue;
      const href = this.#bytes((buffer, length) =>
        this.#pdfium.FPDFAction_GetURIPath(document, action, buffer, length),
      ).replace(/\0+$/, '');
      const [left, top, right, bottom] = this.#pdfium.FPDFLink_GetAnnotRect(link, cells + 8)
        ? heap.HEAPF32.subarray((cells >> 2) + 2, (cells >> 2) + 6)
        : [];
      const anchor =
        textPage === 0 || bottom === undefined ? '' : this.#within(textPage, left!, top!, right!, bottom);
      links.push({href, anchor});
    }
    heap.wasmExports.free(cells);
    return links;
  }

  /** Text in a rectangle of a page: its upper edge has the larger number. */
  #within(textPage: number, left: number, top: number, right: number, bottom: number): string {
    const ask = (buffer: number, length: number): number =>
      this.#pdfium.FPDFText_GetBoundedText(textPage, left, top, right, bottom, buffer, length);
    const units = Math.min(ask(0, 0), maxAnchorUnits);
    return units <= 0 ? '' : this.#units(units, (buffer) => ask(buffer, units)).trim();
  }

  /** URLs in the text. */
  #written(textPage: number): PdfLink[] {
    const links: PdfLink[] = [];
    const found = this.#pdfium.FPDFLink_LoadWebLinks(textPage);
    if (found === 0) return links;
    const count = Math.min(this.#pdfium.FPDFLink_CountWebLinks(found), maxLinksOfPage);
    for (let at = 0; at < count; at++) {
      const units = this.#pdfium.FPDFLink_GetURL(found, at, 0, 0);
      const href = this.#units(units, (buffer) => this.#pdfium.FPDFLink_GetURL(found, at, buffer, units));
      if (/^https?:/i.test(href)) links.push({href, anchor: null});
    }
    this.#pdfium.FPDFLink_CloseWebLinks(found);
    return links;
  }

  /** A text that PDFium writes as UTF-16 with a zero at its end, and whose bytes it tells when asked without a buffer. */
  #text(ask: (buffer: number, bytes: number) => number): string | null {
    const text = Buffer.from(this.#bytes(ask), 'latin1').toString('utf16le').replace(/\0+$/, '').trim();
    return text === '' ? null : text;
  }

  /** Bytes as latin1. */
  #bytes(ask: (buffer: number, bytes: number) => number): string {
    const length = ask(0, 0);
    if (length <= 0) return '';
    const buffer = this.#allocate(length);
    ask(buffer, length);
    const {HEAPU8, wasmExports} = this.#heap;
    const text = Buffer.from(HEAPU8.subarray(buffer, buffer + length)).toString('latin1');
    wasmExports.free(buffer);
    return text;
  }

  /** A text of so many UTF-16 units. */
  #units(units: number, fill: (buffer: number) => void): string {
    if (units <= 0) return '';
    const buffer = this.#allocate(units * 2 + 2);
    fill(buffer);
    const {HEAPU8, wasmExports} = this.#heap;
    const text = Buffer.from(HEAPU8.subarray(buffer, buffer + units * 2)).toString('utf16le');
    wasmExports.free(buffer);
    return text.replace(/\0+$/, '');
  }

  #allocate(bytes: number): number {
    const place = this.#heap.wasmExports.malloc(bytes);
    if (place === 0) throw new Error('out of memory');
    return place;
  }
}

/** Memory of PDFium. The views are made anew when it grows. */
interface Heap {
  readonly HEAPU8: Uint8Array;
  readonly HEAP32: Int32Array;
  readonly HEAPF32: Float32Array;
  readonly wasmExports: {malloc(bytes: number): number; free(place: number): void};
}

/** FPDF_GetLastError after opening. */
const openErrors: Readonly<Record<number, string>> = {
  2: 'cannot be opened',
  3: 'damaged, or no PDF',
  4: 'encrypted, and needs a password',
  5: 'encrypted in a way that is not known',
  6: 'a page cannot be read',
};
/** PDFACTION_URI. */
const uriAction = 3;
/** Chosen: far more than a page that people read has. */
const maxLinksOfPage = 10_000;
const maxAnchorUnits = 2000;

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/**
 * Lets no WebAssembly memory of this thread grow beyond a bound: the library's own is 2 GiB. Its allocator takes the
 * error for what it is, and PDFium ends itself.
 */
export function boundMemory(bytes: number): void {
  const {Memory} = (globalThis as unknown as {WebAssembly: {Memory: {prototype: Memory}}}).WebAssembly; // not in the types of Node
  const grow = Memory.prototype.grow;
  Memory.prototype.grow = function bounded(this: Memory, pages: number): number {
    if (this.buffer.byteLength + pages * 65_536 > bytes) throw new RangeError('out of memory');
    return grow.call(this, pages);
  };
}
