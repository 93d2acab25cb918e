// Where the payloads of one request are kept while it runs.

import type { Keeper, Payload, Spool } from '../../vendors/media.ts'
import { join } from '../../wire/json/splice.ts'

class Bytes implements Payload {
  readonly type: string
  private readonly bytes: Uint8Array

  constructor(bytes: Uint8Array, type: string) {
    this.bytes = bytes
    this.type = type
  }

  get size(): number {
    return this.bytes.length
  }

  read(start: number, end: number): Uint8Array {
    return this.bytes.subarray(start, end)
  }
}

export function createSpool(): Spool {
  return {
    keeper(type): Keeper {
      const chunks: Uint8Array[] = []
      return {
        push: (chunk) => void chunks.push(chunk),
        end: () => new Bytes(join(chunks), type),
      }
    },
    inMemory: (bytes, type) => new Bytes(bytes, type),
    close: () => undefined,
  }
}
