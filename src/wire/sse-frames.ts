// Server-sent events as the data of their frames, for readers that take them one by one.

import { FrameError, type FrameSource } from './dialect.ts'
import { FrameSplitter, frameData, frameTooLong } from './sse.ts'

/** OpenAI's word for the end of a stream; formats without one never send it. */
const doneData = '[DONE]'

export class SseFrames implements FrameSource {
  done = false
  private readonly splitter = new FrameSplitter()

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
      const { data } = frameData(bytes, starts[at] ?? 0, ends[at] ?? 0)
      if (data === doneData) this.done = true
      else if (data !== null) found.push(data)
    }
    return found
  }
}
