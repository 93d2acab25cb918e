// Watches a Responses stream on the identity path: classifies each event, collects usage and the finish reason.

import type { Fault, GatewayError } from '../../errors.ts'
import { take } from '../hub/counts.ts'
import type { JsonObject, Usage } from '../ir.ts'
import { JsonSyntaxError, MemberScan, parseSpan } from '../json/scan.ts'
import { isObject, objectOf } from '../json/value.ts'
import { textBytes } from '../openai/chunk.ts'
import { errorIn, faultInside } from '../openai/fault.ts'
import { responseUsage } from '../openai/usage.ts'
import { type FrameKind, frameKind, type ReplyQuirks, type Watcher } from '../reply.ts'
import { emptyKind } from '../sse-frames.ts'
import { errorFrames, failFrames } from './errors.ts'
import { beginnings, EventRepair } from './event-repair.ts'
import { type Event, eventIn, terminals } from './events.ts'
import { faultOfEvent, faultOfResponse } from './fault.ts'

/** Events without content: a reply cut off after them can be retried on another channel. */
const lifecycle: ReadonlySet<string> = new Set([...beginnings, 'keepalive', 'ping'])

const scan = new MemberScan()
const encoder = new TextEncoder()

/** Bytes of the text in the member `delta` of the object at `at`. Throws JsonSyntaxError. */
function deltaBytes(bytes: Uint8Array, at: number): number {
  let found = 0
  scan.open(bytes, at)
  while (scan.next()) {
    if (scan.is('delta') && bytes[scan.value] === 0x22) {
      found = textBytes(bytes, scan.value, scan.skip())
    }
  }
  return found
}

/** The response's finish reason in the hub's words. */
export function finishOf(response: JsonObject): string {
  const details = response['incomplete_details']
  if (response['status'] !== 'incomplete') return 'stop'
  return isObject(details) && details['reason'] === 'content_filter' ? 'content_filter' : 'length'
}

export class ResponsesWatcher implements Watcher {
  fault: Fault | null = null
  usage: Usage | null = null
  unbelieved = false
  outputBytes = 0
  finishReason: string | null = null
  model: string | null = null
  semantic = false
  ended = false
  /** The first event with the response, which the gateway's own error event continues from. */
  private created: Uint8Array | null = null
  private events = 0
  /** The last frame does not belong to this format. */
  private foreign = false
  /** The last frame as official clients read it; null where it stays as it is. */
  private repaired: Uint8Array | null = null
  private readonly repair: EventRepair

  constructor(quirks: ReplyQuirks) {
    this.repair = new EventRepair(quirks)
  }

  frame(bytes: Uint8Array, start: number, end: number): FrameKind {
    this.semantic = false
    this.foreign = false
    this.repaired = null
    try {
      const event = eventIn(bytes, start, end)
      if (event === null) return this.empty(bytes, start, end)
      const kind = this.judge(event)
      if (kind === frameKind.fault) return kind
      const isRepaired = this.repairs(event)
      this.events++
      return isRepaired ? frameKind.usage : kind
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error
      return this.failed({ kind: 'unreadable', message: 'an event of the stream is not JSON' })
    }
  }

  amend(bytes: Uint8Array, start: number, end: number): Uint8Array | null {
    return this.foreign ? null : (this.repaired ?? bytes.subarray(start, end))
  }

  held(): null {
    return null
  }

  fail(error: GatewayError, requestId: string): string {
    const response = this.created === null ? null : this.responseIn(this.created)
    if (response === null) return errorFrames(error, requestId)
    return failFrames(error, response, this.events)
  }

  /** Whether the event had to be repaired. Throws JsonSyntaxError. */
  private repairs(event: Event): boolean {
    const value = this.repair.repaired(event)
    if (value === null) return false
    this.repaired = encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(value)}\n\n`)
    return true
  }

  /** Relays a comment, but not a terminator, which clients of this format do not expect. */
  private empty(bytes: Uint8Array, start: number, end: number): FrameKind {
    if (emptyKind(bytes, start, end) === frameKind.lifecycle) return frameKind.lifecycle
    this.foreign = true
    return frameKind.usage
  }

  private failed(fault: Fault): FrameKind {
    this.fault = fault
    return frameKind.fault
  }

  private judge(event: Event): FrameKind {
    const { type, bytes, start, end } = event
    if (type.endsWith('.delta')) {
      this.outputBytes += deltaBytes(bytes, start)
      this.semantic = true
      return frameKind.semantic
    }
    if (terminals.has(type)) return this.conclude(event)
    if (type === 'error' || type === '') return this.judgeError(event)
    if (this.created === null && type.startsWith('response.')) {
      this.created = bytes.slice(start, end)
    }
    this.semantic = !lifecycle.has(type)
    return this.semantic ? frameKind.semantic : frameKind.lifecycle
  }

  private judgeError({ type, bytes, start, end }: Event): FrameKind {
    const value = parseSpan(bytes, start, end) as JsonObject
    if (type === 'error') return this.failed(faultOfEvent(value))
    const error = errorIn(value)
    return error === null ? frameKind.lifecycle : this.failed(faultInside(error))
  }

  private conclude({ type, bytes, start, end }: Event): FrameKind {
    const { response } = parseSpan(bytes, start, end) as JsonObject
    const said = objectOf(response)
    const status = type.slice('response.'.length)
    const fault = faultOfResponse({ status, ...said })
    take(this, responseUsage(said), objectOf(said['usage']))
    this.model = typeof said['model'] === 'string' ? said['model'] : this.model
    if (fault !== null) return this.failed(fault)
    this.finishReason = finishOf({ status, ...said })
    this.semantic = true
    this.ended = true
    return this.usage === null ? frameKind.semantic : frameKind.usage
  }

  private responseIn(event: Uint8Array): JsonObject | null {
    const value = parseSpan(event, 0, event.length)
    return isObject(value) && isObject(value['response']) ? value['response'] : null
  }
}
