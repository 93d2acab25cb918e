// A payload as base64, made piece by piece while it is sent: for vendors that take files inside JSON.

import { Buffer } from 'node:buffer'
import type { Payload } from './media.ts'

class Base64Payload implements Payload {
  readonly type = 'text/plain'
  readonly size: number
  private readonly plain: Payload

  constructor(plain: Payload) {
    this.plain = plain
    this.size = Math.ceil(plain.size / 3) * 4
  }

  read(start: number, end: number): Uint8Array {
    const first = Math.floor(start / 4)
    const last = Math.ceil(end / 4)
    const bytes = this.plain.read(first * 3, Math.min(last * 3, this.plain.size))
    const text = Buffer.from(bytes.toBase64(), 'latin1')
    return text.subarray(start - first * 4, end - first * 4)
  }
}

export function base64Payload(plain: Payload): Payload {
  return new Base64Payload(plain)
}
