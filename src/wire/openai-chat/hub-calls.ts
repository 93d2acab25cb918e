// Assembles the tool calls of one choice from their pieces, in whatever order vendors send them.

import type { ChatEvent, JsonObject, JsonValue } from '../ir.ts'
import { ObjectEnd } from '../json/nesting.ts'
import { isObject, jsonTextOf, objectOf, stringOf } from '../json/value.ts'
import { mergeFields, unknownFields, withExtra } from './hub-fields.ts'
import { takeOpaque } from './hub-parts.ts'

interface Call {
  id: string
  name: string
  custom: boolean
  /** Input that arrived before the name. */
  held: string
  /** The number of the call's part; -1 until its name is known. */
  part: number
  empty: boolean
  /** Follows the arguments of a call to which the vendor gave no id: a whole object ends it; null: it has an id. */
  said: ObjectEnd | null
  /** The vendor's opaque state, which must go back with the call; '' where there is none. */
  sealed: string
  readonly extra: JsonObject
}

interface Piece {
  readonly index: number | null
  readonly id: string
  readonly name: string
  readonly input: string
  readonly custom: boolean
  readonly sealed: string
  readonly extra: JsonObject
}

const known: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom'])

function pieceOf(value: JsonObject): Piece {
  const { index, id, function: target, custom } = value
  const body = isObject(custom) ? custom : objectOf(target)
  const input = isObject(custom) ? body['input'] : body['arguments']
  const { rest, sealed = '' } = takeOpaque(unknownFields(value, known))
  return {
    index: typeof index === 'number' ? index : null,
    id: stringOf(id),
    name: stringOf(body['name']),
    // Mistral may send the arguments as an object.
    input: jsonTextOf(input),
    custom: isObject(custom),
    sealed,
    extra: rest,
  }
}

/** What the call reader needs from the choice that the calls belong to. */
interface CallOwner {
  readonly index: number
  /** Allots the number of the next part. */
  nextPart(): number
  /** Closes the open text part, if there is one. */
  closeText(out: ChatEvent[]): void
  /** An id for a call to which the vendor gave none; `ordinal` counts the choice's calls. */
  callId(ordinal: number): string
}

export class CallReader {
  private readonly owner: CallOwner
  private readonly calls: Call[] = []
  private readonly byIndex = new Map<number, Call>()

  constructor(owner: CallOwner) {
    this.owner = owner
  }

  get any(): boolean {
    return this.calls.some((call) => call.part >= 0)
  }

  /** Reads the next `tool_calls`; in a `whole` message each element is a call of its own. */
  take(list: readonly JsonValue[], whole: boolean, out: ChatEvent[]): void {
    for (const value of list) {
      if (!isObject(value)) continue
      const piece = pieceOf(value)
      this.add(whole ? this.open(piece) : this.find(piece), piece, out)
    }
  }

  /** Closes all calls. False if a call has input but never got a name: no client could make it. */
  end(out: ChatEvent[]): boolean {
    for (const call of this.calls) {
      if (call.part < 0) {
        if (call.held !== '') return false
        continue
      }
      // Official clients parse the arguments, and an empty text is not JSON.
      if (call.empty && !call.custom) this.say(call, '{}', out)
      out.push({
        type: 'part-end',
        choice: this.owner.index,
        part: call.part,
        ...(call.sealed !== '' && { sealed: call.sealed }),
        ...withExtra(call.extra),
      })
    }
    return true
  }

  /** The call a piece continues, or a new one. Some vendors send no index, or 0 for every call. */
  private find(piece: Piece): Call {
    const { index, id, name } = piece
    if (index !== null) {
      const call = this.byIndex.get(index)
      if (call === undefined) return this.open(piece)
      const other = id === '' ? isOver(call, name) : name !== '' && call.id !== id
      return other && call.id !== '' ? this.open(piece) : call
    }
    if (id !== '') return this.calls.find((call) => call.id === id) ?? this.open(piece)
    return (name === '' ? this.calls.at(-1) : undefined) ?? this.open(piece)
  }

  private open(piece: Piece): Call {
    const { id, custom } = piece
    const call = {
      id,
      name: '',
      custom,
      held: '',
      part: -1,
      empty: true,
      said: null,
      sealed: '',
      extra: {},
    }
    this.calls.push(call)
    if (piece.index !== null) this.byIndex.set(piece.index, call)
    return call
  }

  private add(call: Call, piece: Piece, out: ChatEvent[]): void {
    mergeFields(call.extra, piece.extra)
    call.sealed = piece.sealed || call.sealed
    if (call.part >= 0) {
      this.say(call, piece.input, out)
      return
    }
    call.id ||= piece.id
    call.name = piece.name
    call.custom ||= piece.custom
    call.held += piece.input
    if (call.name !== '') this.start(call, out)
  }

  private start(call: Call, out: ChatEvent[]): void {
    const { owner } = this
    owner.closeText(out)
    call.part = owner.nextPart()
    if (call.id === '') call.said = new ObjectEnd()
    call.id ||= owner.callId(this.calls.indexOf(call))
    const { id, name, custom, part } = call
    const head = { type: 'tool-call', id, name, ...(custom && { custom }) } as const
    out.push({ type: 'part-start', choice: owner.index, part, head })
    this.say(call, call.held, out)
  }

  private say(call: Call, text: string, out: ChatEvent[]): void {
    if (text === '') return
    call.empty = false
    call.said?.push(text)
    out.push({ type: 'part-delta', choice: this.owner.index, part: call.part, text })
  }
}

/** Whether a piece without an id begins another call: it is named anew, and this one has its arguments or another name. */
function isOver({ said, name: begun }: Call, name: string): boolean {
  if (name === '' || begun === '' || said === null) return false
  return name !== begun || said.whole
}
