// Watches streams of transcripts and speech on the identity path: `data:` events, each with its `type`.

import type { Fault } from '../../errors.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { parsedObject } from '../json/value.ts'
import { faultInside } from '../openai/fault.ts'
import { type FrameKind, frameKind, type Watcher } from '../reply.ts'
import type { Peek, Units } from '../request.ts'
import { frameData } from '../sse.ts'
import { emptyKind } from '../sse-frames.ts'
import { readSoundUsage, reportedSeconds, spokenUsage } from './usage.ts'
import { rawSpeech } from './whole.ts'

const encoder = new TextEncoder()

export class SoundWatcher implements Watcher {
  fault: Fault | null = null
  usage: Usage | null = null
  unbelieved = false
  units: Units | null = null
  outputBytes = 0
  finishReason: string | null = null
  model: string | null = null
  semantic = false
  private readonly peek: Peek | undefined
  private soundBytes = 0

  constructor(peek?: Peek) {
    this.peek = peek
  }

  frame(bytes: Uint8Array, start: number, end: number): FrameKind {
    this.semantic = false
    const { data, event } = frameData(bytes, start, end)
    const text = data?.trim() ?? ''
    if (text === '') return emptyKind(bytes, start, end)
    if (text === '[DONE]') return frameKind.done
    const value = parsedObject(text)
    if (value === null)
      return this.failed({ kind: 'unreadable', message: 'an event of the stream is not JSON' })
    if (event === 'error' || value.type === 'error' || value.error != null)
      return this.failed(faultInside(value.error ?? value))
    return this.judge(value)
  }

  private judge(value: JsonObject): FrameKind {
    switch (value.type) {
      case 'transcript.text.delta':
        this.semantic = true
        this.outputBytes += lengthOf(value.delta)
        return frameKind.semantic
      case 'transcript.text.segment':
        this.semantic = true
        return frameKind.semantic
      case 'speech.audio.delta':
        this.semantic = true
        this.soundBytes += soundIn(value.audio)
        this.countSpeech(false)
        return frameKind.semantic
      case 'transcript.text.done':
        // In a stream without deltas only this shows how much text it brought.
        this.outputBytes = Math.max(this.outputBytes, lengthOf(value.text))
        return this.done(value)
      case 'speech.audio.done':
        return this.done(value)
      default:
        return frameKind.lifecycle
    }
  }

  private done(value: JsonObject): FrameKind {
    this.semantic = true
    this.finishReason = 'stop'
    const { usage, seconds, unbelieved = false } = readSoundUsage(value.usage)
    this.unbelieved = unbelieved
    const speaks = value.type === 'speech.audio.done'
    this.usage = usage !== null && speaks ? spokenUsage(usage) : usage
    const second = this.peek === undefined ? seconds : reportedSeconds(seconds, this.peek)
    if (second !== null) this.units = { second }
    else if (speaks && usage === null) this.countSpeech(true)
    return frameKind.usage
  }

  private countSpeech(isWhole: boolean): void {
    if (this.peek === undefined) return
    const { outputBytes, units = null } = rawSpeech(this.peek, null, {
      bytes: this.soundBytes,
      isWhole,
    })
    this.outputBytes = outputBytes ?? 0
    this.units = units
  }

  private failed(fault: Fault): FrameKind {
    this.fault = fault
    return frameKind.fault
  }

  amend(bytes: Uint8Array, start: number, end: number): Uint8Array {
    return bytes.subarray(start, end)
  }

  held(): null {
    return null
  }
}

function lengthOf(text: JsonValue | undefined): number {
  return typeof text === 'string' ? encoder.encode(text).length : 0
}

function soundIn(base64: JsonValue | undefined): number {
  return typeof base64 === 'string' ? Math.floor((base64.replace(/={1,2}$/, '').length * 3) / 4) : 0
}
