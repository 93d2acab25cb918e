// Watches a Google stream on the identity path: classifies each frame, collects usage and the finish reason.

import type { Fault } from '../../errors.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { type FrameKind, frameKind, type Watcher, type WatchOptions } from '../reply.ts'
import { frameData, unframedJson } from '../sse.ts'
import { doneData, emptyKind } from '../sse-frames.ts'
import { errorIn, faultInside } from './fault.ts'
import { type Glance, glanceAt } from './glance.ts'
import { laterUsage } from './usage.ts'

export class GeminiWatcher implements Watcher {
  fault: Fault | null = null
  usage: Usage | null = null
  unbelieved = false
  outputBytes = 0
  finishReason: string | null = null
  model: string | null = null
  semantic = false
  private called = false
  private readonly options: WatchOptions

  constructor(options: WatchOptions) {
    this.options = options
  }

  frame(bytes: Uint8Array, start: number, end: number): FrameKind {
    this.semantic = false
    const { data } = frameData(bytes, start, end)
    const text = (data ?? unframedJson(bytes, start, end)).trim()
    if (text === '' || text === doneData) return emptyKind(bytes, start, end)
    let value: JsonValue
    try {
      value = JSON.parse(text) as JsonValue
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return this.failed({ kind: 'unreadable', message: 'an event of the stream is not JSON' })
    }
    const error = errorIn(value)
    if (error !== null) return this.failed(faultInside(error))
    if (!isObject(value)) {
      return this.failed({ kind: 'unreadable', message: 'an event of the stream is no object' })
    }
    return this.judge(value)
  }

  private judge(value: JsonObject): FrameKind {
    const seen: Glance = glanceAt(value, this.options.quirks, this.called)
    this.called = seen.called
    this.outputBytes += seen.outputBytes
    if (seen.usage !== null || seen.unbelieved) {
      this.usage = seen.usage === null ? null : laterUsage(this.usage, seen.usage)
      this.unbelieved = seen.unbelieved === true
    }
    if (seen.model !== null) this.model ??= seen.model
    if (seen.finishReason !== null) this.finishReason = seen.finishReason
    this.semantic = seen.semantic
    // Each frame repeats usage so far, so that the cost belongs in the last one.
    if (seen.finishReason !== null && seen.usage !== null) return frameKind.usage
    return seen.semantic ? frameKind.semantic : frameKind.lifecycle
  }

  amend(bytes: Uint8Array, start: number, end: number): Uint8Array {
    return bytes.subarray(start, end)
  }

  held(): null {
    return null
  }

  private failed(fault: Fault): FrameKind {
    this.fault = fault
    return frameKind.fault
  }
}
