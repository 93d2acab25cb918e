// Repairs what a chat says where official clients fail at it, or read it otherwise than their vendor means it.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, jsonTextOf, objectsIn, stringOf } from '../json/value.ts'

/** The calls that a chat says, as a list: some vendors send a single call without a list around it. */
export function callsIn(given: JsonValue | undefined): JsonObject[] {
  return isObject(given) ? [given] : objectsIn(given)
}

/** The text of a message's content where that is a list of texts alone; null where it is anything else. */
export function textOfParts(content: JsonValue | undefined): string | null {
  const parts = objectsIn(content)
  if (!Array.isArray(content) || !parts.every(({ type }) => type === 'text')) return null
  return parts.map(({ text }) => stringOf(text)).join('')
}

/**
 * The message with its calls as a list, their arguments as JSON text, and its content as text, or one without content
 * in place of null; null where it is so.
 */
export function plainMessage(message: JsonValue | undefined): JsonObject | null {
  if (message === null) return { role: 'assistant', content: null }
  if (!isObject(message)) return null
  const calls = plainCalls(message.tool_calls)
  const content = textOfParts(message.content)
  if (calls === null && content === null) return null
  return {
    ...message,
    ...(content !== null && { content }),
    ...(calls !== null && { tool_calls: calls }),
  }
}

function plainCalls(given: JsonValue | undefined): JsonObject[] | null {
  if (given == null) return null
  const calls = callsIn(given)
  const plain = calls.map(plainCall)
  return plain.every((call, at) => call === calls[at]) && !isObject(given) ? null : plain
}

/** Clients parse the arguments, and an empty text is not JSON. */
function plainCall(call: JsonObject): JsonObject {
  const { function: target } = call
  if (!isObject(target)) return call
  const text = jsonTextOf(target.arguments) || '{}'
  return text === target.arguments ? call : { ...call, function: { ...target, arguments: text } }
}

/**
 * The reply with the messages of all its choices as `plainMessage` gives them, and without choices that are none; null
 * where it stays as it is.
 */
export function withPlainMessages(reply: JsonObject): JsonObject | null {
  const given = objectsIn(reply.choices)
  let changed = Array.isArray(reply.choices) && given.length < reply.choices.length
  const choices = given.map((choice) => {
    const message = plainMessage(choice.message)
    if (message === null) return choice
    changed = true
    return { ...choice, message }
  })
  return changed ? { ...reply, choices } : null
}
