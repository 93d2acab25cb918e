// Cuts Google's streams into frames: server-sent events, or plain JSON where an error or a list comes instead.

import { parsedWithCalls } from '../json/exact.ts'
import { FrameError, type FrameSource } from '../reply.ts'
import { maxFileFrameBytes } from '../sse.ts'
import { SseFrames } from '../sse-frames.ts'

const decoder = new TextDecoder()

export class GeminiFrames implements FrameSource {
  private readonly events = new SseFrames(maxFileFrameBytes)
  /** Plain JSON sent instead of events: an error, or a stream requested without `alt=sse`. */
  private plain: Uint8Array[] | null = null
  private plainBytes = 0
  private begun = false

  get done(): boolean {
    return this.events.done
  }

  push(chunk: Uint8Array): readonly string[] {
    if (!this.begun) {
      const at = chunk.findIndex((code) => code > 0x20)
      if (at < 0) return []
      this.begun = true
      if (chunk[at] === 0x7b || chunk[at] === 0x5b) this.plain = []
    }
    if (this.plain === null) return this.events.push(chunk)
    this.plain.push(chunk)
    this.plainBytes += chunk.length
    if (this.plainBytes > maxFileFrameBytes) throw new FrameError('the reply is too long')
    return []
  }

  end(): readonly string[] {
    if (this.plain === null) return this.events.end()
    const text = this.plain.map((chunk) => decoder.decode(chunk, { stream: true })).join('')
    this.plain = []
    try {
      const value = parsedWithCalls(text + decoder.decode())
      return (Array.isArray(value) ? value : [value]).map((frame) => JSON.stringify(frame))
    } catch (error) {
      if (error instanceof SyntaxError) throw new FrameError('the stream is not JSON')
      throw error
    }
  }
}
