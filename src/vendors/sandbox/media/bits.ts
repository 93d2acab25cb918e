// Bits written one after another, the most significant first.

export class BitWriter {
  private bytes = new Uint8Array(256)
  private length = 0
  private pending = 0
  private pendingBits = 0

  /** The lowest `count` bits of a value, up to 24. */
  put(value: number, count: number): this {
    this.pending = (this.pending << count) | (value & ((1 << count) - 1))
    this.pendingBits += count
    while (this.pendingBits >= 8) {
      this.pendingBits -= 8
      this.push((this.pending >>> this.pendingBits) & 255)
    }
    this.pending &= (1 << this.pendingBits) - 1
    return this
  }

  /** Up to the next whole byte, with bits of 0 or 1. */
  align(bit: 0 | 1 = 0): this {
    while (this.pendingBits > 0) this.put(bit, 1)
    return this
  }

  /** Whole bytes, at a whole byte. */
  append(bytes: Iterable<number>): this {
    for (const byte of bytes) this.push(byte)
    return this
  }

  get bitLength(): number {
    return this.length * 8 + this.pendingBits
  }

  /** What has been written, up to the last whole byte. */
  done(): Uint8Array {
    return this.bytes.slice(0, this.length)
  }

  private push(byte: number): void {
    if (this.length === this.bytes.length) {
      const grown = new Uint8Array(this.length * 2)
      grown.set(this.bytes)
      this.bytes = grown
    }
    this.bytes[this.length] = byte
    this.length += 1
  }
}
