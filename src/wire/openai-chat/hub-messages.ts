// Decodes messages of a chat completion request into the hub and encodes them from it.

import { invalidRequest } from '../../errors.ts'
import { OpenCalls } from '../hub/open-calls.ts'
import { withTurnsJoined } from '../hub/turns.ts'
import type {
  JsonObject,
  JsonValue,
  Message,
  ReasoningPart,
  RequestPart,
  Role,
  ToolCallPart,
} from '../ir.ts'
import { isObject, stringOf } from '../json/value.ts'
import { ownFields, present, withExtra } from './hub-fields.ts'
import {
  decodeCall,
  decodeContent,
  encodeCall,
  encodePart,
  opaqueMember,
  takeOpaque,
} from './hub-parts.ts'
import { decodeThoughts, encodeThoughts, thoughtNames } from './hub-thoughts.ts'

const roles: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

function isRole(role: JsonValue | undefined): role is Role {
  return typeof role === 'string' && roles.has(role)
}

export function decodeMessages(list: readonly JsonValue[]): Message[] {
  const calls = new OpenCalls()
  return list.map((value, index) => decodeMessage(value, index, calls))
}

/** `called` has the deprecated function calls, which have no ids. */
function decodeMessage(value: JsonValue, index: number, called: OpenCalls): Message {
  if (!isObject(value)) {
    throw invalidRequest(`messages[${index}] must be an object`, `messages[${index}]`)
  }
  const { role, content, tool_call_id: callId, ...rest } = present(value)
  called.begin(role === 'assistant')
  if (role === 'assistant') return decodeAssistant(content, rest, index, called)
  const parts = decodeContent(content)
  if (!isRole(role)) return decodeFunctionAnswer(parts, stringOf(role), rest, called)
  // This format's tools answer with text alone; other content is kept for vendors of this format to judge.
  const plain = role !== 'tool' || parts.every(({ type }) => type === 'text')
  const kept = plain || content === undefined ? rest : { ...rest, content }
  return { role, parts, ...(typeof callId === 'string' && { callId }), ...withExtra(kept) }
}

/** An answer in the deprecated role `function`: it names the function instead of the call's id. */
function decodeFunctionAnswer(
  parts: readonly RequestPart[],
  role: string,
  rest: JsonObject,
  called: OpenCalls,
): Message {
  const callId = called.answered('', stringOf(rest['name']))
  return {
    role: 'tool',
    parts,
    ...(callId !== undefined && { callId }),
    ...withExtra({ role, ...rest }),
  }
}

function decodeAssistant(
  content: JsonValue | undefined,
  message: JsonObject,
  index: number,
  called: OpenCalls,
): Message {
  const { tool_calls: calls, function_call: call, refusal, images, ...others } = message
  const { rest, sealed } = takeOpaque(others)
  const parts: RequestPart[] = [...decodeThoughts(rest), ...sealedText(content, sealed)]
  // One plain text can be rebuilt from the part; several members with different contents cannot.
  if (thoughtNames.every((name) => rest[name] === undefined)) delete rest['reasoning_content']
  if (typeof refusal === 'string') {
    parts.push({ type: 'text', text: refusal, ...withExtra({ refusal: true }) })
  }
  parts.push(...decodeContent(images))
  if (Array.isArray(calls)) parts.push(...calls.filter(isObject).map(decodeCall))
  if (isObject(call)) {
    const name = stringOf(call['name'])
    const id = `call_function_${index}`
    called.open(id, name)
    const input = stringOf(call['arguments'])
    const extra = withExtra({ function_call: true })
    parts.push({ type: 'tool-call', id, name, arguments: input, ...extra })
  }
  return { role: 'assistant', parts, ...withExtra(rest) }
}

/** The message's content, with the opaque state on its last text. */
function sealedText(content: JsonValue | undefined, sealed: string | undefined): RequestPart[] {
  const parts = decodeContent(content)
  if (sealed === undefined) return parts
  const at = parts.findLastIndex(({ type }) => type === 'text')
  const part = parts[at]
  return part?.type === 'text'
    ? parts.with(at, { ...part, sealed })
    : [...parts, { type: 'text', text: '', sealed }]
}

/** In this format the answers must follow the calls directly, so that what the model said after them joins these. */
function hasCalls({ parts }: Message): boolean {
  return parts.some(({ type }) => type === 'tool-call')
}

/**
 * Encodes all messages. What this format cannot express is named in `dropped` by its place; images with which a tool
 * answered follow the answers as a user message. Throws GatewayError for a part that must not be left out.
 */
export function encodeMessages(messages: readonly Message[], dropped: string[]): JsonObject[] {
  const out: JsonObject[] = []
  let shown: JsonObject[] = []
  const placed = messages.map((message, index) => ({ index, message }))
  for (const { index, message } of withTurnsJoined(placed, hasCalls)) {
    if (message.role === 'tool') {
      const encoded = encodeAnswer(message, index, dropped)
      out.push(encoded.answer)
      shown.push(...encoded.shown)
      continue
    }
    const encoded =
      message.role === 'assistant'
        ? encodeAssistant(message, index, dropped)
        : encodeAsked(message, index, dropped, message.role === 'user' ? shown : [])
    if (shown.length > 0 && message.role !== 'user') out.push({ role: 'user', content: shown })
    shown = []
    if (!isLeftOut(message, encoded)) out.push(encoded)
  }
  if (shown.length > 0) out.push({ role: 'user', content: shown })
  return out
}

/** Whether all parts of the message were left out. */
function isLeftOut({ role, parts }: Message, { role: _, content, ...rest }: JsonObject): boolean {
  if (role !== 'assistant' || parts.length === 0 || parts.some(({ type }) => type === 'text'))
    return false
  return content === '' && Object.keys(rest).length === 0
}

/** Parts that belong in a message's `content`. */
type ContentPart = Exclude<RequestPart, ToolCallPart | ReasoningPart>

function isContent(part: RequestPart): part is ContentPart {
  return part.type !== 'tool-call' && part.type !== 'reasoning'
}

function encodeContent(
  role: Role,
  parts: readonly RequestPart[],
  index: number,
  dropped: string[],
): JsonObject[] {
  const content: JsonObject[] = []
  for (const [at, part] of parts.entries()) {
    if (!isContent(part)) continue
    const place = `messages[${index}].content[${at}]`
    const encoded = encodePart(part, place, dropped)
    if (encoded !== null) content.push(encoded)
    // Foreign parts of past replies can be left out; in user input the question may depend on them.
    else if (role === 'assistant') dropped.push(place)
    else throw invalidRequest(`${place}: this model's vendor takes no such part`, place)
  }
  return content
}

function isPlainText(part: JsonObject): boolean {
  return part['type'] === 'text' && Object.keys(part).length === 2
}

/** A single plain text becomes a string, which every vendor reads; empty texts beside other parts are left out. */
function contentOf(parts: readonly JsonObject[]): JsonValue {
  const [first] = parts
  if (parts.length === 1 && first !== undefined && isPlainText(first))
    return stringOf(first['text'])
  const kept = parts.filter((part) => !(isPlainText(part) && part['text'] === ''))
  return kept.length === 0 && parts.length > 0 ? '' : kept
}

function encodeAsked(
  message: Message,
  index: number,
  dropped: string[],
  shown: readonly JsonObject[],
): JsonObject {
  const content = contentOf([
    ...shown,
    ...encodeContent(message.role, message.parts, index, dropped),
  ])
  return { role: message.role, content, ...ownFields(message.extra) }
}

function encodeAnswer(
  { parts, callId, isError, extra }: Message,
  index: number,
  dropped: string[],
): { readonly answer: JsonObject; readonly shown: readonly JsonObject[] } {
  const own = ownFields(extra)
  const content = encodeContent('tool', parts, index, dropped)
  const texts = content.filter((part) => part['type'] === 'text')
  if (isError) dropped.push(`messages[${index}].is_error`)
  const answer = {
    role: 'tool',
    content: texts.length === 0 ? '' : contentOf(texts),
    ...(callId !== undefined && own['role'] === undefined && { tool_call_id: callId }),
    ...own,
  }
  const elsewhere = own['content'] === undefined && texts.length < content.length
  return { answer, shown: elsewhere ? content.filter((part) => part['type'] !== 'text') : [] }
}

function encodeAssistant({ parts, extra }: Message, index: number, dropped: string[]): JsonObject {
  const own = ownFields(extra)
  const thoughts = parts.filter((part) => part.type === 'reasoning')
  const hasThoughts = thoughtNames.some((name) => own[name] !== undefined)
  const refusal = parts.find((part) => ownFields(part.extra)['refusal'] === true)
  const said = parts.filter((part) => part !== refusal)
  const content = encodeContent('assistant', said, index, dropped)
  const images = content.filter((part) => part['type'] === 'image_url')
  const texts = content.filter((part) => part['type'] !== 'image_url')
  const calls = parts.filter((part) => part.type === 'tool-call')
  for (const [at, { type, cache }] of parts.entries()) {
    if (type === 'tool-call' && cache !== undefined)
      dropped.push(`messages[${index}].content[${at}].cache_control`)
  }
  const older = calls.find((part) => ownFields(part.extra)['function_call'] === true)
  const newer = calls.filter((part) => part !== older)
  const sealed = said.findLast((part) => part.type === 'text' && part.sealed !== undefined)
  return {
    role: 'assistant',
    // Beside neither calls nor a refusal vendors refuse null.
    content: texts.length > 0 ? contentOf(texts) : calls.length > 0 || refusal ? null : '',
    ...(refusal?.type === 'text' && { refusal: refusal.text }),
    ...(images.length > 0 && { images }),
    ...(!hasThoughts && encodeThoughts(thoughts)),
    ...(newer.length > 0 && { tool_calls: newer.map(encodeCall) }),
    ...(older !== undefined && {
      function_call: { name: older.name, arguments: older.arguments },
    }),
    ...(sealed?.type === 'text' && sealed.sealed !== undefined && opaqueMember(sealed.sealed)),
    ...own,
  }
}
