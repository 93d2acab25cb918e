// Manages a response's output items: their ids, their order, and the events that open and close each.

import type { JsonObject } from '../ir.ts'
import { isObject } from '../json/value.ts'

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

  create(fields: JsonObject): Item {
    const index = this.done.length
    const own = this.nextItem
    this.nextItem = {}
    const prefix = prefixes.get(String(fields['type'])) ?? 'item'
    const given = own['id']
    const id = typeof given === 'string' ? given : `${prefix}_${this.base}_${index}`
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

  /** Writes an item's start and end at once. */
  whole(begun: JsonObject, done: JsonObject): string {
    const item = this.create(begun)
    return this.added(item) + this.finished(item, done)
  }
}
