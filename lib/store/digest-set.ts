const digestBytes = 32;

/**
 * A set of SHA-256 digests, exact, in one buffer: at most 96 bytes a digest, a third of what a Set of strings takes.
 * Open addressing by the digest's own first bytes, at most two thirds full.
 */
export class DigestSet {
  #slots = Buffer.alloc(1024 * digestBytes);
  #used = new Uint8Array(1024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param sha256 64 hex digits */
  has(sha256: string): boolean {
    return this.#used[this.#slot(Buffer.from(sha256, 'hex'))] === 1;
  }

  add(sha256: string): void {
    if (this.#size * 3 >= this.#used.length * 2) this.#grow();
    this.#put(Buffer.from(sha256, 'hex'));
  }

  #put(digest: Buffer): void {
    const slot = this.#slot(digest);
    if (this.#used[slot] === 1) return;
    this.#used[slot] = 1;
    this.#slots.set(digest, slot * digestBytes);
    this.#size++;
  }

  #slot(digest: Buffer): number {
    const mask = this.#used.length - 1;
    let slot = digest.readUInt32LE(0) & mask;
    for (; this.#used[slot] === 1; slot = (slot + 1) & mask) {
      const at = slot * digestBytes;
      if (this.#slots.compare(digest, 0, digestBytes, at, at + digestBytes) === 0) break;
    }
    return slot;
  }

  #grow(): void {
    const slots = this.#slots;
    const used = this.#used;
    this.#slots = Buffer.alloc(slots.length * 2);
    this.#used = new Uint8Array(used.length * 2);
    this.#size = 0;
    for (let slot = 0; slot < used.length; slot++)
      if (used[slot] === 1) this.#put(slots.subarray(slot * digestBytes, (slot + 1) * digestBytes));
  }
}
