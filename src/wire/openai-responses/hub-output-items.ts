// Manages a response's output items: their ids, their order, and the events that open and close each.

import type { JsonObject } from '../ir.ts'
import { isObject, text } from '../json/value.ts'

/** Numbers one event and writes it as a frame. */
export type Emit = (type: string, fields: JsonObject) => string

/** One item, with its index in the output. */
export interface Item {
  readonly index: number
  readonly id: string
  value: JsonObject
}

const prefixes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    message: 'msg',
    reasoning: 'rs',
    function_call: 'fc',
    custom_tool_call: 'ctc',
    image_generation_call: 'ig',
    local_shell_call: 'lsh',
    shell_call: 'sh',
    apply_patch_call: 'apc',
    tool_search_call: 'tsc',
  }),
)

export class OutputItems {
  readonly emit: Emit
  private readonly base: string
  private readonly done: JsonObject[] = []
  private readonly ids = new Set<string>()
  /** Private members for the next item, where the vendor speaks this format. */
  private nextItem: JsonObject = {}

  /** Ids are derived from `base`. */
  constructor(base: string, emit: Emit) {
    this.base = base
    this.emit = emit
  }

  /** All items finished so far. */
  all(): JsonObject[] {
    return [...this.done]
  }

  takeNext(item: unknown): void {
    if (isObject(item)) this.nextItem = item
  }

  /** Whether the vendor gave the next item an id. */
  get nextIsNamed(): boolean {
    return 'id' in this.nextItem
  }

  /** The private members for the next item, which no other item gets then. */
  private taken(): JsonObject {
    const item = this.nextItem
    this.nextItem = {}
    return item
  }

  create(fields: JsonObject, members = this.taken()): Item {
    const index = this.done.length
    const { id: given, ...own } = members
    const prefix = prefixes.get(String(fields['type'])) ?? 'item'
    const named = text(given)
    // Official clients fail at an item without an id, and at a second one with the same.
    const id = named === null || this.ids.has(named) ? `${prefix}_${this.base}_${index}` : named
    this.ids.add(id)
    const value = { id, ...fields, ...own }
    this.done.push(value)
    return { index, id, value }
  }

  added(item: Item): string {
    return this.emit('response.output_item.added', { output_index: item.index, item: item.value })
  }

  finished(item: Item, fields: JsonObject): string {
    item.value = { ...item.value, ...fields }
    this.done[item.index] = item.value
    return this.emit('response.output_item.done', { output_index: item.index, item: item.value })
  }

  /** Writes code that the vendor ran: some clients learn of it by the events between start and end only. */
  code(fields: JsonObject, code: string): string {
    this.nextItem = { ...this.nextItem, code: '' }
    const item = this.create(fields)
    const place = { item_id: item.id, output_index: item.index }
    return (
      this.added(item) +
      this.emit('response.code_interpreter_call_code.delta', { ...place, delta: code }) +
      this.emit('response.code_interpreter_call_code.done', { ...place, code }) +
      this.finished(item, { code })
    )
  }

  /** Writes an item's start and end at once. */
  whole(begun: JsonObject, done: JsonObject): string {
    return this.ended(this.create(begun), done)
  }

  /** The same for an item of the gateway's own, while the vendor's next one may have begun. */
  made(begun: JsonObject, done: JsonObject): string {
    return this.ended(this.create(begun, {}), done)
  }

  private ended(item: Item, done: JsonObject): string {
    return this.added(item) + this.finished(item, done)
  }
}
