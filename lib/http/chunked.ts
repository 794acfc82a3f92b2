/**
 * Reads a chunked body alongside the decoder, and straightens what browsers accept and llhttp refuses: lines that end
 * in LF alone, and blanks around a size. A piece without oddities is passed on
 * as it is, uncopied: the common case costs one look at each size line. Broken sizes stay broken, so that the
 * decoder refuses them.
 *
 * Chunks that end in the connection's end instead of the last chunk are not taken for complete.
 */
type State = 'size' | 'data' | 'data end' | 'trailer' | 'done';

/** Most bytes of a size line with its extensions, and of all trailers. A stranger could send them for ever. */
const maxLineBytes = 8_192;
const maxTrailerBytes = 65_536;

export class ChunkStraightener {
  #state: State = 'size';
  /** Bytes of the running chunk that are still to come. */
  #left = 0;
  /** A line that is not complete; it has not been passed on. */
  #line: Buffer = Buffer.alloc(0);
  #broken = false;
  #trailerBytes = 0;

  /** Why the body is not read further; what was passed on before is good. */
  refused: string | undefined;

  /** True: something was straightened. */
  repaired = false;

  /** What the decoder gets for a piece as received. */
  push(piece: Buffer): Buffer {
    if (this.#broken || this.#done()) return piece;
    const bytes = this.#line.length === 0 ? piece : Buffer.concat([this.#line, piece]);
    this.#line = Buffer.alloc(0);
    const out: Buffer[] = [];
    /** Start of what goes on unchanged. */
    let clean = 0;
    let at = 0;
    while (at < bytes.length && !this.#done()) {
      if (this.#state === 'data') {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        at += taken;
        if (this.#left === 0) this.#state = 'data end';
        continue;
      }
      const end = bytes.indexOf(10, at);
      if (end < 0) {
        this.#line = Buffer.from(bytes.subarray(at));
        if (this.#line.length > maxLineBytes) this.refused = `chunk line longer than ${maxLineBytes} bytes`;
        break;
      }
      const line = bytes.toString('latin1', at, end + 1);
      const straight = this.#straighten(line);
      if (straight === undefined) {
        this.#broken = true;
        break;
      }
      if (straight !== line) {
        this.repaired = true;
        out.push(bytes.subarray(clean, at), Buffer.from(straight, 'latin1'));
        clean = end + 1;
      }
      at = end + 1;
    }
    const rest = bytes.subarray(clean, bytes.length - this.#line.length);
    return out.length === 0 ? rest : Buffer.concat([...out, rest]);
  }

  #done(): boolean {
    return this.#state === 'done';
  }

  /** The line as a strict decoder wants it, and the state behind it; undefined for what no one should read. */
  #straighten(line: string): string | undefined {
    if (this.#state === 'data end') {
      if (line !== '\r\n' && line !== '\n') return undefined;
      this.#state = 'size';
      return '\r\n';
    }
    if (this.#state === 'trailer') {
      if (line === '\r\n' || line === '\n') {
        this.#state = 'done';
        return '\r\n';
      }
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > maxTrailerBytes)
        this.refused = `trailers larger than ${maxTrailerBytes} bytes`;
      return line.endsWith('\r\n') ? line : `${line.slice(0, -1)}\r\n`;
    }
    const size = /^[ \t]*([0-9a-f]{1,13})[ \t]*(;[^\r\n]*)?\r?\n$/i.exec(line);
    if (size === null) return undefined;
    const digits = size[1] ?? '';
    this.#left = Number.parseInt(digits, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'data';
    return `${digits}${size[2] ?? ''}\r\n`;
  }
}
