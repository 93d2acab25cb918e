// Cuts a Responses stream into events; it ends with a terminal event and has no terminator.

import { JsonSyntaxError } from '../json/scan.ts'
import { FrameError } from '../reply.ts'
import { maxFileFrameBytes } from '../sse.ts'
import { SseFrames } from '../sse-frames.ts'
import { eventIn, terminals } from './events.ts'

export class ResponsesFrames extends SseFrames {
  private readonly decoder = new TextDecoder()

  constructor() {
    super(maxFileFrameBytes)
  }

  protected override dataOf(bytes: Uint8Array, start: number, end: number): string {
    try {
      const event = eventIn(bytes, start, end)
      if (event === null) return ''
      if (terminals.has(event.type)) this.done = true
      return this.decoder.decode(event.bytes.subarray(event.start, event.end))
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error
      throw new FrameError('an event of the stream is not JSON')
    }
  }
}
