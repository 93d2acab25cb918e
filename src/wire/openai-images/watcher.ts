// Watches an image stream on the identity path: partial images, finished images, and usage.

import type { Fault } from '../../errors.ts'
import type { JsonObject, Usage } from '../ir.ts'
import { JsonSyntaxError, type Member, members, parseSpan, valueEnd } from '../json/scan.ts'
import { errorIn, faultInside } from '../openai/fault.ts'
import { stringOf } from '../openai/rules.ts'
import { type FrameKind, frameKind, type Watcher, type WatchOptions } from '../reply.ts'
import type { Units } from '../request.ts'
import { saidBy, tailUsage, tailWord, unitsSaid, usageAt } from './reply.ts'

const encoder = new TextEncoder()
const dataField = encoder.encode('data:')
const LF = 0x0a
const SPACE = 0x20
const quote = 0x22

export class ImageWatcher implements Watcher {
  fault: Fault | null = null
  usage: Usage | null = null
  readonly outputBytes = 0
  finishReason: string | null = null
  readonly model = null
  semantic = false
  /** Null until an image is finished: a client that leaves before that is charged for its request. */
  units: Units | null = null
  private readonly options: WatchOptions
  private done = 0
  private isUnderWay = false

  constructor(options: WatchOptions) {
    this.options = options
  }

  frame(bytes: Uint8Array, start: number, end: number): FrameKind {
    this.semantic = false
    const at = dataStart(bytes, start, end)
    if (at < 0) return frameKind.lifecycle
    if (bytes[at] === LF) return frameKind.empty
    if (bytes[at] !== 0x7b) return isDone(bytes, at) ? frameKind.done : this.unreadable()
    try {
      return this.judge(bytes, at)
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error
      return this.unreadable()
    }
  }

  private judge(bytes: Uint8Array, at: number): FrameKind {
    const found = members(bytes, at)
    const named = (name: string) => found.find(({ key, kind }) => key === name && kind !== 'null')
    const type = named('type')
    const word = type?.kind === 'string' ? stringOf(bytes, type.start, type.end) : ''
    if (word === 'error' || named('error') !== undefined) return this.failed(bytes, at)
    if (word.endsWith('.partial_image')) return this.partial()
    return word.endsWith('.completed') ? this.completed(bytes, named) : frameKind.lifecycle
  }

  /** A vendor may make fewer images than it was asked for. */
  get mayEnd(): boolean {
    return this.done > 0 && !this.isUnderWay
  }

  private partial(): FrameKind {
    this.semantic = true
    this.isUnderWay = true
    return frameKind.semantic
  }

  private completed(bytes: Uint8Array, named: (name: string) => Member | undefined): FrameKind {
    const { peek, quirks } = this.options
    this.semantic = true
    this.finish(unitsSaid(peek, saidBy(bytes, named), this.done + 1))
    const usage = named('usage')
    if (usage?.kind !== 'object') return frameKind.semantic
    this.usage = sum(this.usage, usageAt(bytes, usage, quirks))
    return frameKind.usage
  }

  mayPass(beginning: Uint8Array): boolean {
    const at = dataStart(beginning, 0, beginning.length)
    return at >= 0 && beginning[at] === 0x7b
  }

  /** Between beginning and end is only base64; all other members are in these two. */
  passed(beginning: Uint8Array, end: Uint8Array): FrameKind {
    const { peek, quirks } = this.options
    this.semantic = true
    const last = end.findLast((code) => code !== LF && code !== SPACE)
    if (last !== 0x7d) return this.cut()
    const ends = [end, beginning.subarray(0, beginning.lastIndexOf(quote) + 1)]
    const word = (name: string) => firstOf(ends, (bytes) => tailWord(bytes, name))
    if (word('type')?.endsWith('.completed') !== true) return this.partial()
    this.finish(unitsSaid(peek, { size: word('size'), quality: word('quality') }, this.done + 1))
    const usage = firstOf(ends, (bytes) => tailUsage(bytes, quirks))
    if (usage === null) return frameKind.semantic
    this.usage = sum(this.usage, usage)
    return frameKind.usage
  }

  private finish(units: Units): void {
    this.done++
    this.isUnderWay = false
    this.units = units
    if (this.done >= (this.options.peek?.choices ?? 1)) this.finishReason = 'stop'
  }

  private cut(): FrameKind {
    this.fault = { kind: 'cut', message: 'the stream ended inside an image' }
    return frameKind.fault
  }

  private failed(bytes: Uint8Array, at: number): FrameKind {
    const body = parseSpan(bytes, at, valueEnd(bytes, at)) as JsonObject
    this.fault = faultInside(errorIn(body) ?? body)
    return frameKind.fault
  }

  private unreadable(): FrameKind {
    this.fault = { kind: 'unreadable', message: 'an event of the stream is not JSON' }
    return frameKind.fault
  }

  /** The usage of every image is shown to the client, whether it asked for usage or not. */
  amend(bytes: Uint8Array, start: number, end: number): Uint8Array {
    return bytes.subarray(start, end)
  }

  held(): null {
    return null
  }
}

/** Offset of the first data line's value; -1 where the frame has none. Looks only at the beginnings of lines. */
function dataStart(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end) {
    if (dataField.every((code, offset) => bytes[at + offset] === code)) {
      const value = at + dataField.length
      return bytes[value] === SPACE ? value + 1 : value
    }
    const lineEnd = bytes.indexOf(LF, at)
    if (lineEnd < 0) return -1
    at = lineEnd + 1
  }
  return -1
}

function isDone(bytes: Uint8Array, at: number): boolean {
  return new TextDecoder().decode(bytes.subarray(at, at + 6)) === '[DONE]'
}

function firstOf<T>(
  places: readonly Uint8Array[],
  find: (bytes: Uint8Array) => T | null,
): T | null {
  for (const bytes of places) {
    const found = find(bytes)
    if (found !== null) return found
  }
  return null
}

function sum(one: Usage | null, other: Usage | null): Usage | null {
  if (one === null || other === null) return one ?? other
  const total: Record<string, number> = { ...one }
  for (const [name, count] of Object.entries(other)) total[name] = (total[name] ?? 0) + count
  return total as unknown as Usage
}
