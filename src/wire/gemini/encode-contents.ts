// Encodes hub messages as Gemini turns: roles merged, answers of one turn together, signatures on their parts.

import type { JsonObject, Message, RequestPart } from '../ir.ts'
import { parsedExactly } from '../json/exact.ts'
import { isObject } from '../json/value.ts'
import { answersOf, KnownCalls } from './encode-answers.ts'
import { mediaPart } from './encode-media.ts'
import { ownFields, ownPart } from './fields.ts'
import { isMadeId } from './ids.ts'
import { type Encoding, type ModelTraits, noSignature } from './models.ts'

interface Contents {
  readonly system: JsonObject | null
  readonly contents: readonly JsonObject[]
}

type Turn = 'user' | 'model' | 'answers'

interface OpenTurn {
  readonly turn: Turn
  readonly parts: JsonObject[]
}

function isSystem({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

/** Only leading system messages become the instruction; a later one stays in its place, as part of a user turn. */
export function encodeContents(messages: readonly Message[], encoding: Encoding): Contents {
  const body = messages.findIndex((message) => !isSystem(message))
  const leading = messages.slice(0, body < 0 ? messages.length : body)
  const system = leading.flatMap((message, at) => partsOf(message, at, encoding))
  const turns: OpenTurn[] = []
  const calls = new KnownCalls()
  const sayAs = (turn: Turn, parts: readonly JsonObject[]): void => {
    if (parts.length === 0) return
    const last = turns.at(-1)
    if (last?.turn === turn) last.parts.push(...parts)
    else turns.push({ turn, parts: [...parts] })
  }
  for (let at = leading.length; at < messages.length; at++) {
    const message = messages[at]
    if (message === undefined) break
    if (message.role === 'tool') {
      let end = at + 1
      while (messages[end]?.role === 'tool') end++
      const run = messages.slice(at, end)
      const { answers, media } = answersOf(run, at, calls, encoding)
      sayAs('answers', answers)
      sayAs('user', media)
      at += run.length - 1
      continue
    }
    const turn = message.role === 'assistant' ? 'model' : 'user'
    if (turn === 'model') calls.note(message)
    if (isSystem(message)) encoding.dropped.push(`messages[${at}].role`)
    sayAs(turn, partsOf(message, at, encoding))
  }
  const contents = turns.map(({ turn, parts }): JsonObject => {
    if (turn === 'model' && encoding.traits.third) signFirstCall(parts)
    return { role: turn === 'model' ? 'model' : 'user', parts }
  })
  return { system: system.length === 0 ? null : { parts: system }, contents }
}

/** The first call of a turn must carry a signature; in a history from other vendors it has none. */
function signFirstCall(parts: readonly JsonObject[]): void {
  const first = parts.find((part) => part['functionCall'] !== undefined)
  if (first !== undefined) first['thoughtSignature'] ??= noSignature
}

function partsOf(message: Message, index: number, encoding: Encoding): JsonObject[] {
  return message.parts.flatMap((part, at): JsonObject[] => {
    const path = `messages[${index}].content[${at}]`
    if (part.cache !== undefined) encoding.dropped.push(`${path}.cache_control`)
    if (
      part.type === 'other' &&
      message.role === 'assistant' &&
      part.extra['gemini'] === undefined
    ) {
      // Foreign parts of past replies can be left out.
      encoding.dropped.push(path)
      return []
    }
    const encoded = encodePart(part, path, index, encoding)
    return encoded === null ? [] : [encoded]
  })
}

function opaqueOf({ sealed }: { readonly sealed?: string }): JsonObject {
  return sealed === undefined ? {} : { thoughtSignature: sealed }
}

function encodePart(
  part: RequestPart,
  path: string,
  index: number,
  { traits, dropped }: Encoding,
): JsonObject | null {
  switch (part.type) {
    case 'text':
      // Google refuses an empty text, except one with a signature, which is Google's own.
      if (part.text === '' && part.sealed === undefined) return null
      return { text: part.text, ...opaqueOf(part), ...ownFields(part.extra) }
    case 'reasoning':
      // Another vendor's reasoning means nothing to Google.
      if (part.sealed === undefined) {
        dropped.push(`messages[${index}].reasoning_content`)
        return null
      }
      if (part.redacted) return { thought: true, ...opaqueOf(part) }
      return { text: part.text, thought: true, ...opaqueOf(part) }
    case 'tool-call':
      return callPart(part, traits)
    case 'other':
      return ownPart(part, path)
    default:
      return mediaPart(part, path, dropped)
  }
}

function callPart(
  part: RequestPart & { readonly type: 'tool-call' },
  traits: ModelTraits,
): JsonObject {
  const { id, name, arguments: text, custom = false } = part
  const named = traits.third && id !== '' && !isMadeId(id)
  const call: JsonObject = { ...(named && { id }), name, args: argsOf(text, custom) }
  return { functionCall: call, ...opaqueOf(part), ...ownFields(part.extra) }
}

/** Google requires an object as arguments: anything else is wrapped in one. */
function argsOf(text: string, custom: boolean): JsonObject {
  if (custom) return { input: text }
  if (text.trim() === '') return {}
  try {
    const value = parsedExactly(text)
    return isObject(value) ? value : { input: value }
  } catch (error) {
    if (error instanceof SyntaxError) return { input: text }
    throw error
  }
}
