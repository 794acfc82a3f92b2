import {workerData} from 'node:worker_threads';
import type {PdfMessage, PdfOrder, PdfThreadData} from './pdf-messages.ts';
import {boundMemory, PdfReader} from './pdfium.ts';

/**
 * The thread in which PDFs are read, one after another. What happens here stays here: a file that takes too long or
 * too much memory costs this thread.
 */
const {port, told, maxMemory} = workerData as PdfThreadData; // by lib/parse/pdf.ts

/** Memory after which a reader is given up, since it never gives any back. Chosen: small ones need 18 MB. */
const keptMemory = 64 * 2 ** 20;
let reader: PdfReader | undefined;
boundMemory(maxMemory);

function tell(message: PdfMessage): void {
  port.postMessage(message);
  Atomics.add(told, 0, 1);
  Atomics.notify(told, 0);
}

port.on('message', (order: PdfOrder) => void read(order));

async function read(order: PdfOrder): Promise<void> {
  try {
    reader ??= await PdfReader.open();
    reader.read(order, tell);
    if (reader.memory > keptMemory) reader = undefined;
  } catch (error) {
    reader = undefined;
    tell({type: 'failed', detail: detailOf(error)});
  }
}

/** PDFium ends itself where memory ends, which is all that its message says. */
function detailOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /abort|memory|unreachable/i.test(message)
    ? 'needs more than parse.pdf_memory, or broke the reader'
    : message;
}
