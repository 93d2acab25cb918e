// Repairs events of a Responses stream at which official clients fail: changing ids, calls without arguments, and
// citations of which members are missing.

import type { JsonObject, JsonValue } from '../ir.ts'
import { ElementScan, MemberScan, parseSpan, spells, textOf } from '../json/scan.ts'
import { isObject, objectsIn, wholeNumber } from '../json/value.ts'
import type { ReplyQuirks } from '../reply.ts'
import { citing, completeCitations } from './citations.ts'
import type { Event } from './events.ts'

const top = new MemberScan()
const inside = new MemberScan()
const items = new ElementScan()
const item = new MemberScan()

/** Events with an id that come before any content: they show whether the vendor changes its ids. */
export const beginnings: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'response.reasoning_summary_part.added',
])

/** Events that have a call's whole arguments. */
const calling: ReadonlySet<string> = new Set([
  'response.function_call_arguments.done',
  'response.output_item.done',
  'response.completed',
  'response.incomplete',
])

/** The string member `id` of the object at `at`; null where it has none. Throws JsonSyntaxError. */
function idOf(bytes: Uint8Array, at: number): string | null {
  if (bytes[at] !== 0x7b) return null
  inside.open(bytes, at)
  while (inside.next()) {
    if (inside.is('id')) return stringAt(bytes, inside)
  }
  return null
}

function stringAt(bytes: Uint8Array, scan: MemberScan): string | null {
  const start = scan.value
  return bytes[start] === 0x22 ? textOf(bytes, start + 1, scan.skip() - 1) : null
}

export class EventRepair {
  private readonly quirks: ReplyQuirks
  /** The first id of the response, under -1, and of each item under its index. */
  private readonly ids = new Map<number, string>()
  /** The vendor gives the response, or an item, another id with each event (GitHub Copilot). */
  private rotates = false

  constructor(quirks: ReplyQuirks) {
    this.quirks = quirks
  }

  /** The event's value as clients read it; null where it stays as it is. Throws JsonSyntaxError. */
  repaired(event: Event): JsonObject | null {
    const { type, bytes, start, end } = event
    if (!this.rotates && type.endsWith('.delta')) return null
    if (!this.rotates && beginnings.has(type)) this.note(bytes, start)
    const isCiting = this.quirks.bareCitations === true && citing.has(type)
    const isCalling = calling.has(type) && lacksArguments(bytes, start)
    if (!this.rotates && !isCiting && !isCalling) return null
    const value = parseSpan(bytes, start, end) as JsonObject
    if (this.rotates) this.steady(value)
    const isFilled = isCalling && fillArguments(value)
    const isCompleted = isCiting && completeCitations(value)
    return this.rotates || isFilled || isCompleted ? value : null
  }

  private note(bytes: Uint8Array, at: number): void {
    let index = -1
    let id: string | null = null
    top.open(bytes, at)
    while (top.next()) {
      if (top.is('response') || top.is('item')) id = idOf(bytes, top.value)
      else if (top.is('item_id')) id = stringAt(bytes, top)
      else if (top.is('output_index')) index = Number(textOf(bytes, top.value, top.skip()))
    }
    if (id === null || Number.isNaN(index)) return
    const first = this.ids.get(index)
    if (first === undefined) this.ids.set(index, id)
    else this.rotates = first !== id
  }

  /** Gives everything in the event the id that it had first. */
  private steady(event: JsonObject): void {
    const { response, item, output_index: given } = event
    if (isObject(response)) {
      this.identify(response, 'id', -1)
      for (const [index, each] of objectsIn(response['output']).entries())
        this.identify(each, 'id', index)
    }
    const index = wholeNumber(given, 0)
    if (index === null) return
    if (isObject(item)) this.identify(item, 'id', index)
    this.identify(event, 'item_id', index)
  }

  private identify(holder: JsonObject, name: string, index: number): void {
    const given = holder[name]
    if (typeof given !== 'string') return
    const first = this.ids.get(index)
    if (first === undefined) this.ids.set(index, given)
    else holder[name] = first
  }
}

function isEmptyText(bytes: Uint8Array, at: number): boolean {
  return spells(bytes, at, at + 2, '""')
}

function isEmptyCall(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== 0x7b) return false
  let isEmpty = false
  item.open(bytes, at)
  while (item.next()) isEmpty ||= item.is('arguments') && isEmptyText(bytes, item.value)
  return isEmpty
}

function hasEmptyCall(bytes: Uint8Array, output: number): boolean {
  if (bytes[output] !== 0x5b) return false
  let found = false
  items.open(bytes, output)
  while (items.next()) found ||= isEmptyCall(bytes, items.value)
  return found
}

/** Whether a call in the event or the response at `at` has an empty text as its arguments. Throws JsonSyntaxError. */
export function lacksArguments(bytes: Uint8Array, at: number): boolean {
  let found = false
  top.open(bytes, at)
  while (top.next()) {
    const { value } = top
    if (top.is('arguments')) found ||= isEmptyText(bytes, value)
    else if (top.is('item')) found ||= isEmptyCall(bytes, value)
    else if (top.is('output')) found ||= hasEmptyCall(bytes, value)
    else if (top.is('response') && bytes[value] === 0x7b) {
      inside.open(bytes, value)
      while (inside.next()) if (inside.is('output')) found ||= hasEmptyCall(bytes, inside.value)
    }
  }
  return found
}

/** Gives calls without arguments those of an empty object, in their place: clients parse them. Tells whether any had none. */
export function fillArguments(event: JsonObject): boolean {
  const { item, response, output } = event
  const list: JsonValue | undefined = isObject(response) ? response['output'] : output
  let filled = false
  for (const each of [event, ...objectsIn([item ?? null]), ...objectsIn(list)]) {
    const { type } = each
    const isCall = type === 'function_call' || type === 'response.function_call_arguments.done'
    if (!isCall || each['arguments'] !== '') continue
    each['arguments'] = '{}'
    filled = true
  }
  return filled
}
