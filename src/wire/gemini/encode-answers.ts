// Encodes tool answers as function responses: those of one turn together, each with the name of its call.

import type { JsonObject, JsonValue, Message, RequestPart } from '../ir.ts'
import { parsedExactly } from '../json/exact.ts'
import { isObject, stringOf } from '../json/value.ts'
import { mediaPart } from './encode-media.ts'
import { ownFields, ownPart } from './fields.ts'
import { isMadeId } from './ids.ts'
import type { Encoding } from './models.ts'

/** The calls of the history so far, in their order. */
export class KnownCalls {
  private readonly names: string[] = []
  /** The place of the last call with an id. */
  private readonly places = new Map<string, number>()

  get count(): number {
    return this.names.length
  }

  note({ parts }: Message): void {
    for (const part of parts) {
      if (part.type !== 'tool-call') continue
      this.places.set(part.id, this.names.length)
      this.names.push(part.name)
    }
  }

  find(id: string | undefined): { readonly place: number; readonly name: string } | null {
    const place = id === undefined ? undefined : this.places.get(id)
    return place === undefined ? null : { place, name: this.names[place] ?? '' }
  }
}

interface Answers {
  readonly answers: readonly JsonObject[]
  /** Images and files, for models that accept none inside an answer: they follow as user content. */
  readonly media: readonly JsonObject[]
}

/**
 * `run` are consecutive messages of role `tool`, the first being `messages[first]`. Answers are sorted like their
 * calls, because Google matches answers with the same name by order where calls have no ids.
 */
export function answersOf(
  run: readonly Message[],
  first: number,
  calls: KnownCalls,
  encoding: Encoding,
): Answers {
  const answers: { readonly order: number; readonly part: JsonObject }[] = []
  const media: JsonObject[] = []
  for (const [at, message] of run.entries()) {
    const call = calls.find(message.callId)
    const name = call?.name ?? nameOf(message)
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
    answers.push({ order: call?.place ?? calls.count + at, part })
  }
  answers.sort((a, b) => a.order - b.order)
  return { answers: answers.map(({ part }) => part), media }
}

/** The function name of an answer whose call is not in the history. */
function nameOf(message: Message): string {
  const own = stringOf(ownFields(message.extra)['name'])
  const chat = message.extra?.['openai-chat']?.['name']
  return own || stringOf(chat) || message.callId || 'tool'
}

function textOf(parts: readonly RequestPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** A JSON object stays as it is; anything else goes under `result`, or `error` if the tool failed. */
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
    return parsedExactly(text)
  } catch (error) {
    // The text only begins like JSON.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function partsOf(message: Message, index: number, { dropped }: Encoding): JsonObject[] {
  return message.parts.flatMap((part, at) => {
    const path = `messages[${index}].content[${at}]`
    if (part.cache !== undefined) dropped.push(`${path}.cache_control`)
    if (part.type === 'image' || part.type === 'audio' || part.type === 'file')
      return [mediaPart(part, path, dropped)]
    return part.type === 'other' ? [ownPart(part, path)] : []
  })
}
