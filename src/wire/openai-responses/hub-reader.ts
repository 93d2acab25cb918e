// Reads Responses replies, streamed or whole, into hub events.

import type { FaultKind } from '../../errors.ts'
import type { Reader } from '../codec.ts'
import { report } from '../hub/counts.ts'
import type { ChatEvent, FinishReason, JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectOf, objectsIn, stringOf } from '../json/value.ts'
import { errorIn, faultInside } from '../openai/fault.ts'
import { responseUsage } from '../openai/usage.ts'
import { unknownFields } from '../openai-chat/hub-fields.ts'
import { frameObject } from '../reply.ts'
import { faultOfEvent, faultOfResponse } from './fault.ts'
import { withExtra } from './hub-fields.ts'
import { type ItemReader, readerOf } from './hub-item-reader.ts'
import { Parts } from './hub-texts.ts'

const knownInResponse: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created_at',
  'completed_at',
  'model',
  'status',
  'output',
  'output_text',
  'usage',
  'error',
  'incomplete_details',
])

/** The type of an item whose start was lost, by the names of its later events. */
const itemOfEvent: readonly (readonly [beginning: string, type: string])[] = [
  ['response.output_text.', 'message'],
  ['response.refusal.', 'message'],
  ['response.content_part.', 'message'],
  ['response.reasoning_', 'reasoning'],
  ['response.function_call_arguments.', 'function_call'],
  ['response.custom_tool_call_input.', 'custom_tool_call'],
]

function fault(kind: FaultKind, message: string): ChatEvent {
  return { type: 'fault', fault: { kind, message } }
}

/** An item of which something was read. */
interface SeenItem {
  readonly reader: ItemReader
  readonly type: string
  callId: string
}

export class ResponsesReader implements Reader {
  private readonly parts = new Parts()
  private readonly items = new Map<string, SeenItem>()
  private started = false
  private over = false

  frame(data: string): readonly ChatEvent[] {
    if (this.over) return []
    const frame = frameObject(data)
    if (typeof frame === 'string') return this.fail(fault('unreadable', frame))
    const out: ChatEvent[] = []
    this.take(frame, out)
    return out
  }

  /** A reply is complete only with its terminal event. */
  end(): readonly ChatEvent[] {
    if (this.over) return []
    return this.fail(fault('cut', 'the stream ended before its response was complete'))
  }

  whole(body: JsonValue): readonly ChatEvent[] {
    if (!isObject(body)) return [fault('unreadable', 'the reply is no object')]
    const failed = body['type'] === 'error' ? faultOfEvent(body) : faultOfResponse(body)
    if (failed !== null) return [{ type: 'fault', fault: failed }]
    if (!Array.isArray(body['output'])) {
      return [fault('unreadable', 'the reply has no list `output`')]
    }
    const { status } = body
    if (status === 'queued' || status === 'in_progress') {
      return [fault('unreadable', 'the reply is not complete')]
    }
    const out: ChatEvent[] = []
    this.head(body, out)
    this.terminal(body, out)
    return out
  }

  private fail(event: ChatEvent): readonly ChatEvent[] {
    this.over = true
    return [event]
  }

  private take(frame: JsonObject, out: ChatEvent[]): void {
    const type = stringOf(frame['type'])
    const { response, item } = frame
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        if (isObject(response)) this.head(response, out)
        return
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.conclude(objectOf(response), type, out)
        return
      case 'error':
        out.push(...this.fail({ type: 'fault', fault: faultOfEvent(frame) }))
        return
      case 'response.output_item.added':
        if (isObject(item)) this.itemOf(frame, item, out)
        return
      case 'response.output_item.done':
        if (isObject(item)) this.itemDone(this.itemOf(frame, item, out), item, false, out)
        return
      default:
        this.inside(type, frame, out)
    }
  }

  /** Reads an event of one item, or an error object sent without an event type. */
  private inside(type: string, frame: JsonObject, out: ChatEvent[]): void {
    const error = type === '' ? errorIn(frame) : null
    if (error !== null) {
      out.push(...this.fail({ type: 'fault', fault: faultInside(error) }))
      return
    }
    const known = this.items.get(keyOf(frame))?.reader
    if (known !== undefined) {
      if (!known.over) known.event(type, frame, out)
      return
    }
    const lost = itemOfEvent.find(([beginning]) => type.startsWith(beginning))
    if (lost !== undefined) this.itemOf(frame, { type: lost[1] }, out).event(type, frame, out)
  }

  private head(response: JsonObject, out: ChatEvent[]): void {
    if (this.started) return
    this.started = true
    const createdAt = Number(response['created_at'])
    out.push({
      type: 'response-start',
      id: stringOf(response['id']),
      model: stringOf(response['model']),
      createdAt: createdAt > 0 ? Math.floor(createdAt) : 0,
      ...withExtra(unknownFields(response, knownInResponse)),
    })
  }

  private itemOf(frame: JsonObject, item: JsonObject, out: ChatEvent[]): ItemReader {
    this.head({}, out)
    const key = keyOf(frame)
    const known = this.items.get(key)
    if (known !== undefined) {
      known.callId ||= stringOf(item['call_id'])
      return known.reader
    }
    const reader = readerOf(item, this.parts, out)
    const [type, callId] = [stringOf(item['type']), stringOf(item['call_id'])]
    this.items.set(key, { reader, type, callId })
    return reader
  }

  private itemDone(reader: ItemReader, item: JsonObject, last: boolean, out: ChatEvent[]): void {
    if (this.over || reader.over || reader.done(item, last, out)) return
    out.push(...this.fail(fault('unreadable', 'the reply has a tool call without a name')))
  }

  private conclude(response: JsonObject, type: string, out: ChatEvent[]): void {
    const failed =
      type === 'response.failed' || type === 'response.cancelled'
        ? faultOfResponse({ status: type.slice('response.'.length), ...response })
        : null
    if (failed !== null) out.push(...this.fail({ type: 'fault', fault: failed }))
    else {
      this.head(response, out)
      this.terminal(response, out)
    }
  }

  private terminal(response: JsonObject, out: ChatEvent[]): void {
    this.finishItems(objectsIn(response['output']), out)
    if (this.over) return
    this.over = true
    this.parts.closeAll(out)
    const usage = responseUsage(response)
    report(out, usage, response['usage'])
    const { extra } = withExtra(unknownFields(response, knownInResponse))
    if (extra !== undefined) out.push({ type: 'extra', choice: null, extra })
    out.push({ type: 'choice-end', choice: 0, reason: this.reasonOf(response) })
  }

  /** Reads items whose events are missing, in part or altogether, from the final response. */
  private finishItems(output: readonly JsonObject[], out: ChatEvent[]): void {
    const seen = [...this.items]
    for (const [key, item] of seen)
      this.itemDone(item.reader, finalOf(key, item, output), true, out)
    for (const [at, item] of output.entries()) {
      if (!isUnseen(item, seen, output)) continue
      const reader = this.itemOf({ item_id: `final ${at}` }, item, out)
      this.itemDone(reader, item, true, out)
    }
  }

  private reasonOf(response: JsonObject): FinishReason {
    const details = response['incomplete_details']
    const why = isObject(details) ? details['reason'] : null
    if (why === 'content_filter') return 'content_filter'
    if (response['status'] === 'incomplete') return 'length'
    return [...this.items.values()].some(({ reader }) => reader.isCall) ? 'tool_calls' : 'stop'
  }
}

/** Identifies an item by its index, since some vendors change its id between events; without an index by its id. */
function keyOf({ output_index: index, item_id: id, item }: JsonObject): string {
  if (typeof index === 'number') return String(index)
  return stringOf(id) || stringOf(objectOf(item)['id'])
}

/** The finished item of the final response; an empty one where it is not there. */
function finalOf(
  key: string,
  { type, callId }: SeenItem,
  output: readonly JsonObject[],
): JsonObject {
  const called =
    callId === ''
      ? undefined
      : output.find((item) => item['call_id'] === callId && item['type'] === type)
  const placed = output[Number(key)]
  return called ?? (placed?.['type'] === type ? placed : {})
}

/**
 * Whether no event told of this item of the final response. Items of a type that events told of may have other ids and
 * places there, so that only a call is looked for, and only where there are more calls than were seen.
 */
function isUnseen(
  item: JsonObject,
  seen: readonly (readonly [string, SeenItem])[],
  output: readonly JsonObject[],
): boolean {
  const { type, call_id: callId } = item
  const alike = seen.filter(([, { type: seenType }]) => seenType === type)
  if (alike.length === 0) return true
  const isKnown = alike.some(([, { callId: seenId }]) => seenId === callId)
  if (typeof callId !== 'string' || isKnown) return false
  return output.filter((each) => each['type'] === type).length > alike.length
}
