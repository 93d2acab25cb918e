// Cohere's streams as the data of their frames: they end with an event of their own.

import type { FrameSource } from '../reply.ts'
import { SseFrames } from '../sse-frames.ts'

/** Inside a string its quotes would stand behind a backslash. */
const last = /"type"\s*:\s*"message-end"/

export class CohereFrames implements FrameSource {
  private readonly events = new SseFrames()
  private ended = false

  get done(): boolean {
    return this.ended || this.events.done
  }

  push(chunk: Uint8Array): readonly string[] {
    return this.noted(this.events.push(chunk))
  }

  end(): readonly string[] {
    return this.noted(this.events.end())
  }

  private noted(found: readonly string[]): readonly string[] {
    if (found.some((data) => last.test(data))) this.ended = true
    return found
  }
}
