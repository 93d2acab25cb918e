// Repairs what a chat says where official clients fail at it, or read it otherwise than their vendor means it.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, jsonTextOf, objectsIn, stringOf } from '../json/value.ts'

/** The calls that a chat says, as a list: some vendors send a single call without a list around it. */
export function callsIn(given: JsonValue | undefined): JsonObject[] {
  return isObject(given) ? [given] : objectsIn(given)
}

/** A text, or the texts of a list of parts together. */
export function textOf(given: JsonValue | undefined): string {
  if (typeof given === 'string') return given
  return objectsIn(given)
    .map(({ text }) => stringOf(text))
    .join('')
}

/** An id for a call to which the vendor gave none; `ordinal` counts the choice's calls. */
export function madeCallId(reply: string, choice: string, ordinal: number): string {
  const tail = reply.replace(/[^a-zA-Z0-9]/g, '').slice(-16)
  return `call_${tail}_${choice}_${ordinal}`
}

/**
 * What takes the place of a message's content where that is a list, as Mistral's models send it: its texts together,
 * its thoughts as reasoning, and other parts beside them; null where the content is anything else.
 */
export function plainContent(said: JsonObject): JsonObject | null {
  const { content, reasoning_content: reasoning } = said
  if (!Array.isArray(content)) return null
  const parts = content.map((part) =>
    typeof part === 'string' ? { type: 'text', text: part } : part,
  )
  const ofType = (type: string) => objectsIn(parts).filter((part) => part.type === type)
  const thoughts = ofType('thinking').map(({ thinking }) => textOf(thinking))
  const others = objectsIn(parts).filter(({ type }) => type !== 'text' && type !== 'thinking')
  return {
    content: textOf(ofType('text')),
    ...(thoughts.length > 0 && { reasoning_content: stringOf(reasoning) || thoughts.join('') }),
    ...(others.length > 0 && { content_parts: others }),
  }
}

/**
 * The message with calls that clients can answer, in a list, their arguments as JSON text, and its content as text, or
 * one without content in place of null; null where it is so. `place` names the reply and its choice.
 */
function plainMessage(message: JsonValue | undefined, place: Place): JsonObject | null {
  if (message === null) return { role: 'assistant', content: null }
  if (!isObject(message)) return null
  const calls = plainCalls(message.tool_calls, place)
  const content = plainContent(message)
  if (calls === null && content === null) return null
  return { ...message, ...content, ...(calls !== null && { tool_calls: calls }) }
}

/** Where a message is: of which its calls get ids. */
interface Place {
  readonly reply: string
  readonly choice: string
}

function plainCalls(given: JsonValue | undefined, { reply, choice }: Place): JsonObject[] | null {
  if (given == null) return null
  const calls = callsIn(given)
  const used = new Set<string>()
  const plain = calls.map((call, at) => {
    const id = stringOf(call.id)
    const own = id === '' || used.has(id) ? madeCallId(reply, choice, at) : id
    used.add(own)
    return plainCall(call, own)
  })
  return plain.every((call, at) => call === calls[at]) && !isObject(given) ? null : plain
}

/** Clients answer by the id, require a type and parse the arguments, of which an empty text is not JSON. */
function plainCall(call: JsonObject, id: string): JsonObject {
  const { type, function: target } = call
  const kind = typeof type === 'string' ? type : isObject(call.custom) ? 'custom' : 'function'
  const identified = call.id === id && type === kind ? call : { ...call, id, type: kind }
  if (!isObject(target)) return identified
  const text = jsonTextOf(target.arguments) || '{}'
  if (text === target.arguments) return identified
  return { ...identified, function: { ...target, arguments: text } }
}

/**
 * The reply with the messages of all its choices as `plainMessage` gives them, and without choices that are none; null
 * where it stays as it is.
 */
export function withPlainMessages(reply: JsonObject): JsonObject | null {
  const given = objectsIn(reply.choices)
  let changed = Array.isArray(reply.choices) && given.length < reply.choices.length
  const choices = given.map((choice, at) => {
    const place = { reply: stringOf(reply.id), choice: String(at) }
    const message = plainMessage(choice.message, place)
    if (message === null) return choice
    changed = true
    return { ...choice, message }
  })
  return changed ? { ...reply, choices } : null
}
