// Fits what clients send back of earlier replies, which may be another vendor's, to vendors that refuse parts of it.

import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject, objectsIn, stringOf } from '../wire/json/value.ts'
import {
  callMembers,
  foreignMembers,
  longestCallId,
  replyMembers,
} from '../wire/openai-chat/reply-members.ts'
import { longestCallId as longestInResponses } from '../wire/openai-responses/input.ts'
import { type Amendment, messagesOf } from './amendments.ts'
import { identifier } from './hash.ts'
import { isMakersAddress } from './makers-address.ts'
import type { Call } from './vendor.ts'

export function hasCalls({ tool_calls: calls }: JsonObject): boolean {
  return Array.isArray(calls) && calls.length > 0
}

/** Removes these members from answers, and from their calls all that requests do not have. */
function plainReplies(refused: readonly string[]): Amendment {
  const refusesReply = refused.includes('refusal')
  return {
    wants: ({ sentBack }) => sentBack === 'foreign' || (refusesReply && sentBack === 'reply'),
    apply(body) {
      const messages = messagesOf(body)
      // Pictures are taken from users alone: the user's next message shows them.
      let shown: JsonObject[] = []
      for (const message of messages) {
        if (message.role === 'assistant') {
          shown.push(...objectsIn(message.images))
          makePlain(message, refused)
        } else if (message.role === 'user' && shown.length > 0) {
          message.content = [...partsOf(message.content), ...shown]
          shown = []
        }
      }
      if (shown.length > 0) body.messages = [...messages, { role: 'user', content: shown }]
    },
  }
}

function makePlain(message: JsonObject, refused: readonly string[]): void {
  const { refusal } = message
  for (const name of refused) {
    // SDKs write it as null in a reply without calls; in any other form it is the model's call.
    if (name !== 'function_call' || !isObject(message.function_call)) delete message[name]
  }
  for (const call of objectsIn(message.tool_calls)) {
    for (const name of Object.keys(call)) {
      if (!callMembers.some((known) => known === name)) delete call[name]
    }
  }
  if (!hasCalls(message)) delete message.tool_calls
  // What a refusal says is otherwise lost, and vendors refuse null beside no call.
  const saysNothing = message.content == null || message.content === ''
  if (saysNothing && message.refusal === undefined && typeof refusal === 'string')
    message.content = refusal
  const others = [message.tool_calls, message.function_call, message.refusal, message.audio]
  if (others.every((value) => value == null)) message.content ??= ''
}

function partsOf(content: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(content)) return content
  return [{ type: 'text', text: stringOf(content) }]
}

/** For OpenAI, which takes back what its own replies have; what imitates it may read the rest. */
export const withoutForeign = atMakers(plainReplies(foreignMembers))

function atMakers(amendment: Amendment): Amendment {
  return {
    ...amendment,
    wants: (call) =>
      call.baseUrl !== undefined &&
      amendment.wants?.(call) === true &&
      isMakersAddress(call.baseUrl),
  }
}

/** For vendors that refuse whatever their own requests do not have. */
export const withoutReplyMembers = plainReplies([...replyMembers, ...foreignMembers])

/** The same for a vendor that reads the reasoning of earlier turns. */
export const withoutAllButReasoning = plainReplies(
  [...replyMembers, ...foreignMembers].filter((name) => name !== 'reasoning_content'),
)

/** Gives calls and their results the ids that `idOf` makes of theirs, in chats and in Responses. */
export function withCallIds(idOf: (id: string, call: Call) => string): Amendment['apply'] {
  return (body, call) => {
    const rename = (holder: JsonObject, name: string): void => {
      const id = holder[name]
      if (typeof id === 'string') holder[name] = idOf(id, call)
    }
    for (const message of messagesOf(body)) {
      rename(message, 'tool_call_id')
      for (const each of objectsIn(message.tool_calls)) rename(each, 'id')
    }
    for (const item of objectsIn(body.input)) rename(item, 'call_id')
  }
}

/** Longer ids than OpenAI takes are hashed, so that a call and its result still match. */
export const shortCallIds = atMakers({
  wants: ({ sentBack }) => sentBack === 'foreign',
  apply: withCallIds((id, { dialect }) => {
    const longest = dialect === 'openai-responses' ? longestInResponses : longestCallId
    return id.length > longest ? `call_${identifier(id)}` : id
  }),
})
