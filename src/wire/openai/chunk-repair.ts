// Repairs chunks of a chat at which official clients fail, or which they read otherwise than their vendor means them.

import { largestIndex } from '../hub/choice-index.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, jsonTextOf, objectOf, objectsIn, stringOf, wholeNumber } from '../json/value.ts'
import { callsIn, madeCallId, plainContent } from './message-repair.ts'

interface Call {
  /** The vendor's number for it, and the client's. */
  readonly index: JsonValue | undefined
  readonly at: number
  readonly id: string
  readonly custom: boolean
  named: boolean
  empty: boolean
}

/**
 * Gives each call of one choice a number and an id of its own. Numbers of the vendor are kept where they tell calls
 * apart, whatever their order.
 */
class Calls {
  private readonly calls: Call[] = []
  private readonly reply: string
  private readonly choice: string

  /** Ids of calls to which the vendor gave none are made of the reply's id and the choice's number. */
  constructor(reply: string, choice: string) {
    this.reply = reply
    this.choice = choice
  }

  /** The piece as OpenAI would send it; the same object if it is so already. */
  piece(piece: JsonObject): JsonObject {
    const { index, id, type, function: target, custom, ...rest } = piece
    const kind = isObject(custom) ? 'custom' : 'function'
    const input = isObject(custom) ? 'input' : 'arguments'
    const { name, [input]: said, ...more } = isObject(custom) ? custom : objectOf(target)
    const known = this.find(index, stringOf(id), stringOf(name))
    const call = known ?? this.open(index, stringOf(id), kind === 'custom')
    const text = jsonTextOf(said)
    const isNew = known === null
    const renamed = call.named && stringOf(name) !== ''
    call.named ||= stringOf(name) !== ''
    if (text !== '') call.empty = false
    const { at } = call
    const own = id === call.id
    const identified = isNew ? own && typeof type === 'string' : own || stringOf(id) === ''
    if (index === at && identified && (said === undefined || said === text)) return piece
    const names = call.named && !renamed ? { name } : {}
    return {
      index: at,
      ...(isNew && { id: call.id, type: kind }),
      [kind]: { ...names, [input]: text, ...more },
      ...rest,
    }
  }

  /** Whether a piece of this number goes on with a call as it is; notes whether the call has a text. */
  continues(index: number, hasText: boolean): boolean {
    const call = this.find(index, '', '')
    if (call === null || call.at !== index) return false
    if (hasText) call.empty = false
    return true
  }

  /** The pieces that complete calls without any arguments: clients parse these, and an empty text is not JSON. */
  endings(): JsonObject[] {
    return this.calls.flatMap((call) => {
      if (!call.empty || call.custom) return []
      call.empty = false
      return [{ index: call.at, function: { arguments: '{}' } }]
    })
  }

  /** The call that a piece continues; null: it begins one. Some vendors send no index, or the same for every call. */
  private find(index: JsonValue | undefined, id: string, name: string): Call | null {
    const { calls } = this
    if (index == null) {
      const last = name === '' ? calls.at(-1) : undefined
      return (id === '' ? last : calls.findLast((call) => call.id === id)) ?? null
    }
    const call = calls.findLast((each) => each.index === index)
    if (call === undefined) return null
    return id !== '' && name !== '' && call.id !== id ? null : call
  }

  private open(index: JsonValue | undefined, id: string, custom: boolean): Call {
    const taken = id === '' || this.calls.some((call) => call.id === id)
    const own = taken ? madeCallId(this.reply, this.choice, this.calls.length) : id
    const call = { index, at: this.number(index), id: own, custom, named: false, empty: true }
    this.calls.push(call)
    return call
  }

  private number(index: JsonValue | undefined): number {
    const used = new Set(this.calls.map(({ at }) => at))
    const given = wholeNumber(index, 0)
    if (given !== null && given <= largestIndex && !used.has(given)) return given
    let free = 0
    while (used.has(free)) free++
    return free
  }
}

export class ChunkRepair {
  /** Some choice has calls. */
  calling = false
  private readonly calls = new Map<JsonValue | undefined, Calls>()

  /** Whether a piece of a call that has its number and text alone stays as it is; of several choices, none does. */
  continues(index: number, hasText: boolean): boolean {
    const [calls] = this.calls.values()
    return this.calls.size === 1 && calls?.continues(index, hasText) === true
  }

  /** Changes the chunk in its place; tells whether it had to. */
  repair(chunk: JsonObject): boolean {
    if (!Array.isArray(chunk.choices)) {
      chunk.choices = []
      return true
    }
    const given = chunk.choices
    const choices = objectsIn(given)
    chunk.choices = choices
    const done = choices.map((choice) => this.choice(choice, stringOf(chunk.id)))
    return done.includes(true) || choices.length < given.length
  }

  private choice(choice: JsonObject, id: string): boolean {
    const { delta } = choice
    if (delta === null) choice.delta = {}
    if (!isObject(delta)) return delta === null
    const said = saidAgain(delta)
    const calls = this.callsOf(choice, delta.tool_calls, id)
    if (said === null && calls === null) return false
    choice.delta = { ...(said ?? delta), ...(calls !== null && { tool_calls: calls }) }
    return true
  }

  /** The pieces of calls in the form that clients expect; null where the vendor's have it. */
  private callsOf(
    { index, finish_reason: finish }: JsonObject,
    list: JsonValue | undefined,
    id: string,
  ): JsonObject[] | null {
    const known = this.calls.get(index) ?? new Calls(id, String(index))
    this.calls.set(index, known)
    const given = callsIn(list)
    const pieces = given.map((piece) => known.piece(piece))
    this.calling ||= pieces.length > 0
    if (stringOf(finish) !== '') pieces.push(...known.endings())
    const isSame = pieces.every((piece, at) => piece === given[at])
    return isSame && !isObject(list) ? null : pieces
  }
}

/** The delta with an empty role as that of the model, and a list of parts as a text; null where it has neither. */
function saidAgain(delta: JsonObject): JsonObject | null {
  const said = plainContent(delta)
  const isUnnamed = delta.role === ''
  if (said === null && !isUnnamed) return null
  return { ...delta, ...(isUnnamed && { role: 'assistant' }), ...said }
}
