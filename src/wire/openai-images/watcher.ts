// Watches one stream of images: those on the way, those that are done, and what they cost.

import type { Fault } from '../../errors.ts'
import {
  type FrameKind,
  frameKind,
  type Units,
  type Watcher,
  type WatchOptions,
} from '../dialect.ts'
import type { JsonObject, Usage } from '../ir.ts'
import { JsonSyntaxError, type Member, members, parseSpan, valueEnd } from '../json/scan.ts'
import { errorIn, faultInside } from '../openai/fault.ts'
import { stringOf } from '../openai/rules.ts'
import { saidBy, unitsSaid, usageAt } from './reply.ts'

const encoder = new TextEncoder()
const dataField = encoder.encode('data:')
const LF = 0x0a
const SPACE = 0x20

export class ImageWatcher implements Watcher {
  fault: Fault | null = null
  usage: Usage | null = null
  readonly outputBytes = 0
  finishReason: string | null = null
  readonly model = null
  semantic = false
  /** null until an image is done: what a client that leaves before owes is what it asked for. */
  units: Units | null = null
  private readonly options: WatchOptions
  private done = 0

  constructor(options: WatchOptions) {
    this.options = options
  }

  frame(bytes: Uint8Array, start: number, end: number): FrameKind {
    this.semantic = false
    const at = dataStart(bytes, start, end)
    if (at < 0) return frameKind.lifecycle
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
    if (word.endsWith('.partial_image')) {
      this.semantic = true
      return frameKind.semantic
    }
    return word.endsWith('.completed') ? this.completed(bytes, named) : frameKind.lifecycle
  }

  private completed(bytes: Uint8Array, named: (name: string) => Member | undefined): FrameKind {
    const { peek, quirks } = this.options
    this.done++
    this.semantic = true
    this.units = unitsSaid(peek, saidBy(bytes, named), this.done)
    if (this.done >= (peek?.choices ?? 1)) this.finishReason = 'stop'
    const usage = named('usage')
    if (usage?.kind !== 'object') return frameKind.semantic
    this.usage = sum(this.usage, usageAt(bytes, usage, quirks))
    return frameKind.usage
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

  /** Every image tells its own tokens, and every client is shown them. */
  amend(bytes: Uint8Array, start: number, end: number): Uint8Array {
    return bytes.subarray(start, end)
  }

  held(): null {
    return null
  }
}

/** Where the first data line's value begins; -1 where the frame has none. Never searched inside a line. */
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

function sum(one: Usage | null, other: Usage | null): Usage | null {
  if (one === null || other === null) return one ?? other
  const total: Record<string, number> = { ...one }
  for (const [name, count] of Object.entries(other)) total[name] = (total[name] ?? 0) + count
  return total as unknown as Usage
}
