// Writes the events of a reply as one whole chat completion.

import type { WriterHead } from '../dialect.ts'
import { type FoldedChoice, type FoldedPart, fold } from '../hub/fold.ts'
import type { ChatEvent, JsonObject } from '../ir.ts'
import { isObject, writeUsage } from '../openai/usage.ts'
import { mergeFields, ownFields } from './hub-fields.ts'
import { encodeCall } from './hub-messages.ts'

/** Usage is left out where none is known: the caller counts. */
export function writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject {
  const reply = fold(events)
  const extras: JsonObject = {}
  for (const extra of reply.extras) Object.assign(extras, ownFields(extra))
  return {
    id: reply.id || head.id,
    object: 'chat.completion',
    created: reply.createdAt || head.createdAt,
    model: reply.model || head.model,
    choices: reply.choices.map(choiceOf),
    ...(reply.usage !== null && { usage: writeUsage(reply.usage) }),
    ...extras,
  }
}

function joined(parts: readonly FoldedPart[], type: FoldedPart['head']['type']): string | null {
  const texts = parts.filter(({ head }) => head.type === type).map(({ text }) => text)
  return texts.length === 0 ? null : texts.join('')
}

function callsOf(parts: readonly FoldedPart[]): JsonObject[] {
  const calls: JsonObject[] = []
  for (const { head, text, extra } of parts) {
    if (head.type !== 'tool-call') continue
    calls.push(encodeCall({ ...head, arguments: text, ...(extra !== null && { extra }) }))
  }
  return calls
}

function choiceOf({ index, parts, reason, extras }: FoldedChoice): JsonObject {
  const fields: JsonObject = {}
  for (const extra of extras) mergeFields(fields, ownFields(extra))
  const { delta, finish_reason: word = reason, ...private_ } = fields
  const reasoning = joined(parts, 'reasoning')
  const calls = callsOf(parts)
  return {
    index,
    message: {
      role: 'assistant',
      // A reply that says nothing at all is an empty text.
      content: joined(parts, 'text') ?? (parts.length === 0 ? '' : null),
      refusal: joined(parts, 'refusal'),
      ...(reasoning !== null && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(isObject(delta) && delta),
    },
    logprobs: null,
    ...private_,
    finish_reason: word,
  }
}
