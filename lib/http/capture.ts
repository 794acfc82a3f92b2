import type {Socket} from 'node:net';
import type {Reason} from '../schema/reason.ts';
import {ChunkStraightener} from './chunked.ts';
import type {ResponseHead} from './exchange.ts';
import {framingOf, plainHeader} from './framing.ts';
import {
  endOfHeader,
  type HeaderBlock,
  leadingEmptyLines,
  mayBeStatusLine,
  readHeaderBlock,
} from './header-block.ts';

/** Who wants to know what goes over a socket: the exchange that is running on it. */
export interface CaptureListener {
  readonly maxHeaderBytes: number;
  /** The request is being written. */
  onRequest(): void;
  /** A byte of the answer is in. */
  onBytes(): void;
  /** The header block of the final answer. `raw` is a copy; `empty`: no body belongs to it. */
  onHeader(head: ResponseHead, block: HeaderBlock, raw: Uint8Array, empty: boolean): void;
  /** The answer can't be used; the socket is being closed. */
  onRefused(reason: Reason, detail: string): void;
}

/**
 * Sits between a socket and undici's parser. It keeps request and response header bytes as they are on the wire,
 * reads the response's header itself, and gives the parser a plain one (see `plainHeader`); bodies pass through, chunk lines
 * straightened.
 * Interim answers (1xx) are read over. It overrides `read` and `write` of the socket, which are what
 * undici calls: undici is pinned, and test/conformance/http-raw-bytes.test.ts holds the manner.
 */
export class SocketCapture {
  readonly #socket: Socket;
  #listener: CaptureListener | undefined;
  #inHeader = false;
  /** Request line and headers as they were written. */
  #request: string | undefined;
  /** Header bytes so far, while the block is incomplete. */
  #pending: Buffer | undefined;
  /** Present while a chunked body comes in. */
  #chunks: ChunkStraightener | undefined;
  /** Where pending bytes of several chunks lie. */
  #room: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket;
    const read = socket.read;
    const write = socket.write;
    socket.read = (size?: number): unknown => {
      for (;;) {
        const refused = this.#chunks?.refused;
        if (refused !== undefined && this.#listener !== undefined) {
          this.#refuse('http_malformed', refused);
          return null;
        }
        const chunk: unknown = size === 0 ? read.call(socket, 0) : read.call(socket);
        if (!(chunk instanceof Uint8Array)) return chunk;
        if (!this.#inHeader) return this.#chunks === undefined ? chunk : this.#chunks.push(chunk as Buffer);
        const passed = this.#inspect(chunk as Buffer);
        if (passed !== undefined) return passed;
        if (!this.#inHeader && this.#listener === undefined) return null;
      }
    };
    socket.write = ((...args: Parameters<typeof write>): boolean => {
      if (this.#listener !== undefined && this.#request === undefined && typeof args[0] === 'string') {
        this.#request = args[0];
        this.#inHeader = true;
        this.#listener.onRequest();
      }
      return write.apply(socket, args);
    }) as typeof write;
  }

  /**
   * From here to `end` the socket carries the exchange of `listener`. Its answer begins after its request has
   * been written: bytes that come before it belong to nobody, and undici closes the connection over them.
   */
  begin(listener: CaptureListener): void {
    this.#listener = listener;
    this.#inHeader = false;
    this.#request = undefined;
    this.#pending = undefined;
    this.#chunks = undefined;
  }

  end(): void {
    this.#listener = undefined;
    this.#inHeader = false;
  }

  /** A chunked body had to be straightened. */
  get oddChunks(): boolean {
    return this.#chunks?.repaired === true;
  }

  /** Request line and headers as they were written, decoded as latin1. */
  get request(): string | undefined {
    return this.#request;
  }

  /** What is in of a header block that is not complete. */
  get partialHeader(): Uint8Array | undefined {
    return this.#pending;
  }

  /** What the parser gets for a chunk; undefined: nothing yet. */
  #inspect(chunk: Buffer): Buffer | undefined {
    const listener = this.#listener;
    if (listener === undefined) return chunk;
    listener.onBytes();
    let from = Math.max(0, (this.#pending?.length ?? 0) - 2);
    let bytes = this.#append(chunk);
    for (;;) {
      const skipped = leadingEmptyLines(bytes);
      if (!mayBeStatusLine(bytes.subarray(skipped))) {
        const start = bytes.toString('latin1', skipped, skipped + 80);
        return this.#refuse('http_malformed', `not HTTP: ${JSON.stringify(start)}`);
      }
      const end = endOfHeader(bytes, Math.max(from, skipped));
      if (Math.max(end, end < 0 ? bytes.length : 0) > listener.maxHeaderBytes) {
        this.#pending = bytes.subarray(0, listener.maxHeaderBytes);
        return this.#refuse('header_limit', `response header larger than ${listener.maxHeaderBytes} bytes`);
      }
      this.#pending = bytes;
      if (end < 0) return undefined;
      const block = readHeaderBlock(bytes.toString('latin1', 0, end));
      if (typeof block === 'string') return this.#refuse('http_malformed', block);
      if (block.status >= 200 || block.status === 101) return this.#final(block, bytes, end);
      bytes = Buffer.from(bytes.subarray(end));
      this.#pending = undefined;
      if (bytes.length === 0) return undefined;
      from = 0;
    }
  }

  /** The pending bytes and the chunk. Room doubles, so that a header that drips in costs no more than twice its size. */
  #append(chunk: Buffer): Buffer {
    const pending = this.#pending;
    if (pending === undefined) return chunk;
    const size = pending.length + chunk.length;
    if (this.#room.length < size || pending.buffer !== this.#room.buffer) {
      this.#room = Buffer.allocUnsafeSlow(size * 2);
      pending.copy(this.#room);
    }
    chunk.copy(this.#room, pending.length);
    return this.#room.subarray(0, size);
  }

  #final(block: HeaderBlock, bytes: Buffer, end: number): Buffer | undefined {
    const raw = Buffer.from(bytes.subarray(0, end));
    const framing = framingOf(block);
    const listener = this.#listener;
    this.#pending = undefined;
    this.#inHeader = false;
    const {status, statusText, headers} = block;
    const empty = typeof framing !== 'string' && framing.body === 0;
    listener?.onHeader({status, statusText, headers}, block, raw, empty);
    if (typeof framing === 'string') return this.#refuse('http_malformed', framing);
    const plain = plainHeader(framing);
    if (framing.body === 'chunked') {
      this.#chunks = new ChunkStraightener();
      return Buffer.concat([plain, this.#chunks.push(bytes.subarray(end))]);
    }
    // The plain header goes where the received one was, just before the body: no copy of the body.
    if (plain.length > end) return Buffer.concat([plain, bytes.subarray(end)]);
    plain.copy(bytes, end - plain.length);
    return bytes.subarray(end - plain.length);
  }

  #refuse(reason: Reason, detail: string): undefined {
    const listener = this.#listener;
    this.end();
    listener?.onRefused(reason, detail);
    this.#socket.destroy();
    return undefined;
  }
}
