// Keeps a copy of a reply whose client may ask for it again by its `Idempotency-Key`.

import { join } from '../wire/json/splice.ts'
import type { Captured } from './ask.ts'

/** A larger reply is not kept: the key then only tells that the work was done. */
const maxBytes = 1_048_576

export class Capture {
  private chunks: Uint8Array[] = []
  private bytes = 0

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length
    if (this.bytes <= maxBytes) this.chunks.push(chunk)
    else this.chunks = []
  }

  clear(): void {
    this.chunks = []
    this.bytes = 0
  }

  reply(stream: boolean): Captured {
    return { stream, bytes: this.bytes <= maxBytes ? join(this.chunks) : null }
  }
}
