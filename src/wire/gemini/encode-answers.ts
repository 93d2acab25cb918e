// What tools answered, as function responses: all of one turn together, named by the calls they are of.

import type { JsonObject, JsonValue, Message, RequestPart } from '../ir.ts'
import { isObject, stringOf } from '../json/value.ts'
import { mediaPart } from './encode-media.ts'
import { ownFields } from './fields.ts'
import { isMadeId } from './ids.ts'
import type { Encoding } from './models.ts'

export interface KnownCall {
  readonly id: string
  readonly name: string
}

interface Answers {
  readonly answers: readonly JsonObject[]
  /** Pictures and files, for models that take none inside an answer: they follow as the user's own. */
  readonly media: readonly JsonObject[]
}

/**
 * `run` are consecutive messages of role `tool`, the first of them `messages[first]`. They come in the order of their
 * calls, by which Google tells answers of one name apart where calls have no ids.
 */
export function answersOf(
  run: readonly Message[],
  first: number,
  calls: readonly KnownCall[],
  encoding: Encoding,
): Answers {
  const answers: { readonly order: number; readonly part: JsonObject }[] = []
  const media: JsonObject[] = []
  for (const [at, message] of run.entries()) {
    const order = calls.findLastIndex(({ id }) => id === message.callId)
    const name = calls[order]?.name ?? nameOf(message)
    const kept = partsOf(message, first + at, encoding)
    const inside = encoding.traits.third && kept.length > 0
    if (!inside) media.push(...kept)
    const { callId = '' } = message
    const named = encoding.traits.third && callId !== '' && !isMadeId(callId)
    const part: JsonObject = {
      functionResponse: {
        ...(named && { id: callId }),
        name,
        response: responseOf(message),
        ...(inside && { parts: kept }),
      },
    }
    answers.push({ order: order < 0 ? calls.length + at : order, part })
  }
  answers.sort((a, b) => a.order - b.order)
  return { answers: answers.map(({ part }) => part), media }
}

/** Of an answer whose call the history does not have. */
function nameOf(message: Message): string {
  const own = stringOf(ownFields(message.extra)['name'])
  const chat = message.extra?.['openai-chat']?.['name']
  return own || stringOf(chat) || message.callId || 'tool'
}

function textOf(parts: readonly RequestPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** An object as it is; anything else under `result`, or `error` where the tool failed. */
function responseOf(message: Message): JsonObject {
  const own = ownFields(message.extra)['response']
  if (isObject(own)) return own
  const text = textOf(message.parts)
  if (message.isError) return { error: text }
  const value = parsed(text)
  if (isObject(value)) return value
  return { result: Array.isArray(value) ? value : text }
}

function parsed(text: string): JsonValue | undefined {
  const start = text.trimStart()[0]
  if (start !== '{' && start !== '[') return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    // A text that only begins like JSON.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function partsOf(message: Message, index: number, { dropped }: Encoding): JsonObject[] {
  return message.parts.flatMap((part, at) => {
    const path = `messages[${index}].content[${at}]`
    if (part.cache !== undefined) dropped.push(`${path}.cache_control`)
    const isMedia = part.type === 'image' || part.type === 'audio' || part.type === 'file'
    return isMedia ? [mediaPart(part, path, dropped)] : []
  })
}
