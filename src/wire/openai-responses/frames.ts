// Cuts a Responses stream into its events; the format ends with one of them and has no terminator.

import { JsonSyntaxError } from '../json/scan.ts'
import { FrameError, type FrameSource } from '../reply.ts'
import { FrameSplitter, frameTooLong } from '../sse.ts'
import { eventIn, terminals } from './events.ts'

export class ResponsesFrames implements FrameSource {
  done = false
  private readonly splitter = new FrameSplitter()
  private readonly decoder = new TextDecoder()

  push(chunk: Uint8Array): readonly string[] {
    const count = this.splitter.push(chunk)
    if (count === frameTooLong) throw new FrameError('an event of the stream is too long')
    return this.take(count)
  }

  end(): readonly string[] {
    return this.take(this.splitter.end())
  }

  private take(count: number): readonly string[] {
    const { bytes, starts, ends } = this.splitter
    const found: string[] = []
    for (let at = 0; at < count && !this.done; at++) {
      try {
        const event = eventIn(bytes, starts[at] ?? 0, ends[at] ?? 0)
        if (event === null) continue
        found.push(this.decoder.decode(event.bytes.subarray(event.start, event.end)))
        if (terminals.has(event.type)) this.done = true
      } catch (error) {
        if (!(error instanceof JsonSyntaxError)) throw error
        throw new FrameError('an event of the stream is not JSON')
      }
    }
    return found
  }
}
