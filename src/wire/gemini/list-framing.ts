// Frames a stream as one JSON list, the reply to a request without `alt=sse`.

import type { Reframe } from '../reply.ts'
import { maxFileFrameBytes } from '../sse.ts'
import { SseFrames } from '../sse-frames.ts'

const encoder = new TextEncoder()

export class ListFraming implements Reframe {
  readonly contentType = 'application/json; charset=UTF-8'
  private readonly frames = new SseFrames(maxFileFrameBytes)
  private count = 0

  push(chunk: Uint8Array): Uint8Array {
    return encoder.encode(this.written(this.frames.push(chunk)))
  }

  end(): Uint8Array {
    const rest = this.written(this.frames.end())
    return encoder.encode(`${rest}${this.count === 0 ? '[]' : ']'}`)
  }

  private written(data: readonly string[]): string {
    return data.map((text) => `${this.count++ === 0 ? '[' : ',\r\n'}${text}`).join('')
  }
}
