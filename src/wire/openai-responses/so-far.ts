// Assembles a response from its events while it is being generated.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectsIn, stringOf } from '../json/value.ts'
import { terminals } from './events.ts'

export interface ItemSoFar {
  value: JsonObject
  done: boolean
}

/** Statuses of a response that did not complete. */
const broken: ReadonlySet<JsonValue | undefined> = new Set(['failed', 'cancelled'])

export class ResponseSoFar {
  /** The response as it began; once it has ended, the final one. */
  response: JsonObject
  /** Items by their index in the output, which a vendor may choose at will. */
  items = new Map<number, ItemSoFar>()
  ended = false
  /** The response of the terminal event, before `end` makes it final. */
  last: JsonObject | null = null
  /** Characters of text received so far. */
  length = 0

  constructor(response: JsonObject) {
    this.response = response
  }

  /** Applies the data of one event of a stream. */
  event(event: JsonObject): void {
    const { type, output_index: index, response } = event
    if (terminals.has(String(type)) && isObject(response)) this.last = response
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0) return
    if (type === 'response.output_item.added' && isObject(event['item'])) {
      this.items.set(index, { value: event['item'], done: false })
    } else if (type === 'response.output_item.done' && isObject(event['item'])) {
      this.items.set(index, { value: event['item'], done: true })
    } else {
      const item = this.items.get(index)
      if (item !== undefined && !item.done) this.add(item.value, event)
    }
  }

  /** Drops everything collected so far. */
  forget(): void {
    this.items.clear()
    this.last = null
  }

  /** The final response with its output; for one that did not complete, the items collected so far are its output. */
  ending(response: JsonObject): JsonObject {
    const output = objectsIn(response['output'])
    if (!broken.has(response['status']) && output.length > 0) return response
    if (this.items.size === 0) return response
    const shown = [...this.items].sort(([a], [b]) => a - b).map(([, item]) => ended(item))
    return { ...response, output: shown }
  }

  /** Makes this the final response. */
  end(response: JsonObject): void {
    this.response = response
    const output = objectsIn(response['output'])
    this.items = new Map(output.map((value, at) => [at, { value, done: true }]))
    this.ended = true
  }

  private add(item: JsonObject, event: JsonObject): void {
    const { delta } = event
    const text = stringOf(delta)
    this.length += text.length
    switch (event['type']) {
      case 'response.content_part.added':
        place(item, 'content', event['content_index'], event['part'])
        break
      case 'response.reasoning_summary_part.added':
        place(item, 'summary', event['summary_index'], event['part'])
        break
      case 'response.output_text.delta':
      case 'response.reasoning_text.delta':
        append(partAt(item, 'content', event['content_index']), 'text', text)
        break
      case 'response.refusal.delta':
        append(partAt(item, 'content', event['content_index']), 'refusal', text)
        break
      case 'response.reasoning_summary_text.delta':
        append(partAt(item, 'summary', event['summary_index']), 'text', text)
        break
      case 'response.function_call_arguments.delta':
        append(item, 'arguments', text)
        break
      case 'response.custom_tool_call_input.delta':
        append(item, 'input', text)
    }
  }
}

/** An item of a response that has ended; an unfinished one becomes `incomplete`. */
function ended({ value, done }: ItemSoFar): JsonObject {
  return done || value['status'] !== 'in_progress' ? value : { ...value, status: 'incomplete' }
}

/** Whether an item of a response that did not complete is itself complete. */
export function isWhole({ status }: JsonObject): boolean {
  return status !== 'in_progress' && status !== 'incomplete'
}

export function isBroken({ status }: JsonObject): boolean {
  return broken.has(status)
}

function place(
  item: JsonObject,
  name: 'content' | 'summary',
  at: JsonValue | undefined,
  part: JsonValue | undefined,
): void {
  const list = item[name]
  if (typeof at !== 'number' || !isObject(part)) return
  if (!Array.isArray(list)) item[name] = [part]
  else if (at === list.length) list.push(part)
}

function partAt(
  item: JsonObject,
  name: 'content' | 'summary',
  at: JsonValue | undefined,
): JsonObject | null {
  const list = item[name]
  const part = Array.isArray(list) && typeof at === 'number' ? list[at] : undefined
  return isObject(part) ? part : null
}

function append(target: JsonObject | null, name: string, text: string): void {
  if (target === null) return
  const said = target[name]
  target[name] = stringOf(said) + text
}
