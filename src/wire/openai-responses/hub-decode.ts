// A Responses request into the hub: items become messages, the turns of a model one each.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../dialect.ts'
import type { ChatRequest, JsonObject, JsonValue, Message, RequestPart, Role } from '../ir.ts'
import { isObject } from '../openai/usage.ts'
import { present, stringOf } from '../openai-chat/hub-fields.ts'
import { objectsIn, self, withExtra } from './hub-fields.ts'
import { decodeParts } from './hub-parts.ts'
import { carriedBy, resealed } from './hub-seals.ts'
import { takeKept, takePlain, takeReasoning, takeText } from './hub-settings.ts'
import { takeTools } from './hub-tools.ts'
import { summaryIn, summaryMessage } from './summary.ts'

const roles: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'developer'])

function roleOf(value: JsonValue | undefined, place: string): Role {
  if (typeof value === 'string' && roles.has(value)) return value as Role
  const param = `${place}.role`
  throw invalidRequest(`${param} must be user, assistant, system or developer`, param)
}

/** A model's turn: what it thought, said and called, until somebody answers. */
interface Turn {
  parts: RequestPart[]
  /** Private fields of its message; null until there is one. */
  fields: JsonObject | null
}

class Items {
  readonly messages: Message[] = []
  private turn: Turn | null = null

  take(item: JsonObject, place: string): void {
    const { type } = item
    switch (type) {
      case undefined:
      case 'message':
        this.message(item, place)
        return
      case 'reasoning':
        this.reasoning(item)
        return
      case 'function_call':
      case 'custom_tool_call':
        this.open().parts.push(callOf(item, type === 'custom_tool_call'))
        return
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.answer(item, place)
        return
      case 'compaction':
        this.compaction(item)
        return
      case 'compaction_trigger':
        throw invalidRequest(
          `${place}: this model's vendor compacts nothing by itself: ask /v1/responses/compact`,
          place,
        )
      case 'item_reference':
        throw invalidRequest(
          `${place}: the item '${stringOf(item['id'])}' is not known to this model's vendor`,
          place,
        )
      default:
        this.open().parts.push({ type: 'other', extra: { [self]: item } })
    }
  }

  end(): void {
    const { turn } = this
    this.turn = null
    if (turn === null) return
    const { parts, fields } = turn
    this.messages.push({ role: 'assistant', parts, ...withExtra(fields ?? {}) })
  }

  private open(): Turn {
    this.turn ??= { parts: [], fields: null }
    return this.turn
  }

  private message(item: JsonObject, place: string): void {
    const { role: named, content, ...rest } = present(item)
    const role = roleOf(named, place)
    const parts = decodeParts(content, `${place}.content`)
    if (role !== 'assistant') {
      this.end()
      // Where it was listed it had an id, under which nobody else knows it.
      const { id: _, status: __, ...own } = rest
      this.messages.push({ role, parts, ...withExtra(own) })
      return
    }
    // Reasoning belongs to the message behind it; a message behind a call is another.
    const fresh = this.turn?.parts.every(({ type }) => type === 'reasoning') ?? true
    if (!fresh || (this.turn !== null && this.turn.fields !== null)) this.end()
    const turn = this.open()
    turn.fields = rest
    turn.parts.push(...parts)
  }

  private reasoning(item: JsonObject): void {
    const { type: _, summary, content, encrypted_content: sealed, ...rest } = present(item)
    const carriedSeal = carriedBy(stringOf(sealed))
    if (carriedSeal !== null) {
      const turn = this.open()
      turn.parts = resealed(turn.parts, carriedSeal) ?? turn.parts
      return
    }
    const said = [summary, content].map((list) =>
      objectsIn(list)
        .map((part) => stringOf(part['text']))
        .join('\n\n'),
    )
    const text = said[0] || said[1] || ''
    const isSealed = typeof sealed === 'string' && sealed !== ''
    const extra = withExtra(rest)
    const seal = isSealed ? { sealed } : {}
    if (text !== '') this.open().parts.push({ type: 'reasoning', text, ...seal, ...extra })
    else if (isSealed) {
      this.open().parts.push({ type: 'reasoning', text, sealed, redacted: true, ...extra })
    } else this.open().parts.push({ type: 'reasoning', text, ...extra })
  }

  /** The gateway's own is told to any model; a vendor's goes back to the channel that made it, as reasoning does. */
  private compaction(item: JsonObject): void {
    const { encrypted_content: content, ...rest } = present(item)
    const sealed = stringOf(content)
    const summary = summaryIn(sealed)
    if (summary === null) {
      const extra = withExtra(rest)
      this.open().parts.push({ type: 'reasoning', text: '', sealed, redacted: true, ...extra })
      return
    }
    this.end()
    this.messages.push(summaryMessage(summary))
  }

  private answer(item: JsonObject, place: string): void {
    this.end()
    const { type, call_id: callId, output, ...rest } = present(item)
    if (typeof callId !== 'string') {
      throw invalidRequest(`${place}.call_id must be a string`, `${place}.call_id`)
    }
    const parts = decodeParts(output ?? '', `${place}.output`)
    const custom = type === 'custom_tool_call_output' ? { custom: true } : {}
    this.messages.push({ role: 'tool', callId, parts, ...withExtra({ ...rest, ...custom }) })
  }
}

function callOf(item: JsonObject, custom: boolean): RequestPart {
  const { type: _, call_id: callId, name, arguments: input, input: text, ...rest } = present(item)
  return {
    type: 'tool-call',
    id: stringOf(callId),
    name: stringOf(name),
    arguments: stringOf(custom ? text : input),
    ...(custom && { custom }),
    ...withExtra(rest),
  }
}

function messagesOf(input: JsonValue | undefined): Message[] {
  if (typeof input === 'string') {
    return [{ role: 'user', parts: [{ type: 'text', text: input }] }]
  }
  const items = new Items()
  for (const [at, item] of (Array.isArray(input) ? input : []).entries()) {
    const place = `input[${at}]`
    if (!isObject(item)) throw invalidRequest(`${place} must be an object`, place)
    items.take(item, place)
  }
  items.end()
  return items.messages
}

/** Null counts as absent. Throws GatewayError naming the field. */
export function decodeRequest(body: JsonObject): Decoded<ChatRequest> {
  const rest = present(body)
  const wording: JsonObject = {}
  const { model, input, instructions, stream, prompt } = rest
  if (typeof model !== 'string') throw invalidRequest('model must be a string', 'model')
  if (prompt !== undefined) {
    throw invalidRequest(
      "prompt: a template lies with OpenAI; this model's vendor has none",
      'prompt',
    )
  }
  for (const name of ['model', 'input', 'instructions', 'stream', 'stream_options']) {
    delete rest[name]
  }
  const messages = messagesOf(input)
  if (typeof instructions === 'string') {
    wording['instructions'] = instructions
    const parts: RequestPart[] = [{ type: 'text', text: instructions }]
    if (instructions !== '') {
      messages.unshift({ role: 'system', parts, ...withExtra({ instructions: true }) })
    }
  }
  const plain = takePlain(rest)
  takeKept(rest, wording)
  const value: ChatRequest = {
    model,
    messages,
    stream: stream === true,
    ...plain,
    ...takeReasoning(rest),
    ...takeText(rest),
    ...takeTools(rest, wording),
    ...withExtra(rest),
    // Even where it is empty: it tells that the client speaks this format.
    wording: { [self]: wording },
  }
  return { value, dropped: [] }
}
