// Items of a sandbox conversation: for each, its tokens and the beginning of its text are kept.

import { Buffer } from 'node:buffer'
import { invalidRequest } from '../../../errors.ts'
import type { JsonObject, JsonValue } from '../../../wire/ir.ts'
import { isObject, objectsIn, stringOf } from '../../../wire/json/value.ts'
import { contentText, countTokens } from '../text.ts'

export interface Item {
  readonly id: string
  /** The text that an answer echoes; null: the item needs no answer. */
  readonly said: string | null
  readonly textTokens: number
  readonly audioTokens: number
}

/** Tokens that an item costs besides its text, like a chat message. */
export const perItem = 4
/** Input audio counts one token per 100 ms, as in realtime models. */
const inputTokensPerSecond = 10
/** The most text kept for the echo. */
const keptChars = 1_000
/** The value of `previous_item_id` for the conversation's beginning. */
const root = 'root'

/** The item in a client's event. Throws `invalid_request_error` for a type that the sandbox does not know. */
export function itemOf(item: JsonObject, id: string, bytesPerSecond: number): Item {
  const { type, role } = item
  if (type === 'function_call_output') return textItem(id, stringOf(item['output']), true)
  if (type === 'function_call') return textItem(id, stringOf(item['arguments']), false)
  if (type !== 'message')
    throw invalidRequest(`The sandbox knows no item of type '${String(type)}'`, 'item.type')
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw invalidRequest("'item.role' must be user, assistant or system", 'item.role')
  const parts = objectsIn(item['content'])
  const text = contentText(parts) + parts.map((part) => stringOf(part['transcript'])).join('')
  const bytes = parts.reduce((sum, part) => sum + soundBytes(part['audio'], 'item.content'), 0)
  const seconds = bytes / bytesPerSecond
  const made = textItem(id, text === '' ? described(seconds) : text, role === 'user')
  return {
    ...made,
    textTokens: perItem + countTokens(text),
    audioTokens: Math.ceil(seconds * inputTokensPerSecond),
  }
}

/** The item for committed audio. */
export function soundItem(id: string, seconds: number): Item {
  const audioTokens = Math.ceil(seconds * inputTokensPerSecond)
  return { id, said: described(seconds), textTokens: perItem, audioTokens }
}

function textItem(id: string, text: string, answered: boolean): Item {
  return {
    id,
    said: answered ? text.slice(0, keptChars) : null,
    textTokens: perItem + countTokens(text),
    audioTokens: 0,
  }
}

function described(seconds: number): string {
  return seconds === 0 ? '' : `${Math.round(seconds * 10) / 10} s of sound`
}

/** The bytes of base64 audio. Throws `invalid_request_error` where it is not base64. */
export function soundBytes(sound: JsonValue | undefined, param: string): number {
  if (sound === undefined || sound === null) return 0
  if (typeof sound !== 'string' || /[^A-Za-z0-9+/=]/.test(sound))
    throw invalidRequest(`'${param}' must hold sound as base64`, param)
  return Buffer.byteLength(sound, 'base64')
}

/** The item as the client sees it, without its audio. */
export function shownItem(item: JsonObject, id: string): JsonObject {
  const { content } = item
  const shown = { ...item, id, object: 'realtime.item', status: 'completed' }
  if (!Array.isArray(content)) return shown
  const silent = content.map((part) => {
    if (!isObject(part)) return part
    const { audio: _, ...rest } = part
    return rest
  })
  return { ...shown, content: silent }
}

/** The index of a new item behind `previous`. Throws `invalid_request_error` where there is no such item. */
export function placeAfter(items: readonly Item[], previous: JsonValue | undefined): number {
  if (previous === undefined || previous === null) return items.length
  if (previous === root) return 0
  const at = items.findIndex(({ id }) => id === previous)
  if (at !== -1) return at + 1
  throw invalidRequest(
    `There is no item '${String(previous)}' in the conversation`,
    'previous_item_id',
  )
}
