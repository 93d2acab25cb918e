// Keeps a copy of a reply whose client may ask for it again by its `Idempotency-Key`.

import type { Captured } from '../billing/settlement.ts'
import { join } from '../wire/json/splice.ts'

/** A larger reply is not kept: the key then only tells that the work was done. */
const maxBytes = 1_048_576

export class Capture implements Captured {
  private chunks: Uint8Array[] = []
  private length = 0

  add(chunk: Uint8Array): void {
    this.length += chunk.length
    if (this.length <= maxBytes) this.chunks.push(chunk)
    else this.chunks = []
  }

  clear(): void {
    this.chunks = []
    this.length = 0
  }

  bytes(): Uint8Array | null {
    return this.length <= maxBytes ? join(this.chunks) : null
  }
}
