// Repairs the calls of a whole chat at which official clients fail, or which they read otherwise than their vendor means.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, jsonTextOf, objectsIn } from '../json/value.ts'

/** The calls that a chat says, as a list: some vendors send a single call without a list around it. */
export function callsIn(given: JsonValue | undefined): JsonObject[] {
  return isObject(given) ? [given] : objectsIn(given)
}

/** The calls of a message as a list, each with JSON text as arguments; null where they are so already. */
export function plainCalls(message: JsonValue | undefined): JsonObject[] | null {
  const given = isObject(message) ? message.tool_calls : null
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

/** The reply with the calls of all its choices as `plainCalls` gives them; null where it stays as it is. */
export function withPlainCalls(reply: JsonObject): JsonObject | null {
  let changed = false
  const choices = objectsIn(reply.choices).map((choice) => {
    const { message } = choice
    const calls = plainCalls(message)
    if (calls === null || !isObject(message)) return choice
    changed = true
    return { ...choice, message: { ...message, tool_calls: calls } }
  })
  return changed ? { ...reply, choices } : null
}
