// Encodes messages of a chat for Cohere.

import { invalidRequest } from '../../errors.ts'
import { fileText } from '../hub/file-text.ts'
import { noText, type Placed, turnsOf, withTurnsJoined } from '../hub/turns.ts'
import type { ImagePart, JsonObject, Message, RequestPart, Role, ToolCallPart } from '../ir.ts'

function imageOf({ url, detail }: ImagePart, place: string): JsonObject {
  if (url === '') {
    throw invalidRequest(`${place}: an image must be given by its URL or its bytes`, place)
  }
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } }
}

/** The text of a part that is one, or a file of text; null of any other. */
function textOf(part: RequestPart, place: string): string | null {
  if (part.type === 'text') return part.text
  return part.type === 'file' ? fileText(part, place) : null
}

/** The parts of a message that belong in `content`, in order. */
function contentOf({ index, message }: Placed, dropped: string[]): JsonObject[] {
  const content: JsonObject[] = []
  for (const [at, part] of message.parts.entries()) {
    const place = `messages[${index}].content[${at}]`
    if (part.cache !== undefined) dropped.push(`${place}.cache_control`)
    const text = textOf(part, place)
    if (text !== null) {
      // Cohere refuses empty texts.
      if (text !== '') content.push({ type: 'text', text })
    } else if (part.type === 'image') content.push(imageOf(part, place))
    else refuseForeign(part, place, message.role, dropped)
  }
  return content
}

function isImage(part: JsonObject): boolean {
  return part['type'] === 'image_url'
}

/** Throws GatewayError for other files, audio and foreign parts in user input, for which Cohere has no form. */
function refuseForeign(part: RequestPart, place: string, role: Role, dropped: string[]): void {
  if (part.type === 'file' || part.type === 'audio') {
    throw invalidRequest(`${place}: this model's vendor takes no ${part.type} parts`, place)
  }
  if (part.type !== 'other') return
  // Foreign parts of past replies can be left out.
  if (role === 'assistant') dropped.push(place)
  else throw invalidRequest(`${place}: this model's vendor takes no such part`, place)
}

/** A single text becomes a string, which every model accepts. */
function shortest(content: readonly JsonObject[]): string | JsonObject[] {
  const [first] = content
  const text = first?.['text']
  return content.length === 1 && typeof text === 'string' ? text : [...content]
}

function callOf({ id, name, arguments: input, custom }: ToolCallPart): JsonObject {
  const text = custom ? JSON.stringify({ input }) : input === '' ? '{}' : input
  return { id, type: 'function', function: { name, arguments: text } }
}

/**
 * Reasoning of a past turn: as content, for models that think; else as the plan of the calls it led to; else it is
 * left out.
 */
function thoughtsOf({ index, message }: Placed, thinks: boolean, dropped: string[]) {
  const texts: string[] = []
  for (const part of message.parts) {
    if (part.type === 'reasoning' && part.text !== '') texts.push(part.text)
  }
  const none = { content: [] as JsonObject[], plan: {} }
  if (texts.length === 0) return none
  if (thinks) return { ...none, content: texts.map((thinking) => ({ type: 'thinking', thinking })) }
  if (message.parts.some(({ type }) => type === 'tool-call')) {
    return { ...none, plan: { tool_plan: texts.join('') } }
  }
  dropped.push(`messages[${index}].reasoning_content`)
  return none
}

function assistantOf(placed: Placed, thinks: boolean, dropped: string[]): JsonObject[] {
  const place = `messages[${placed.index}].content`
  const said = contentOf(placed, dropped)
  if (said.some(isImage)) {
    throw invalidRequest(`${place}: this model's vendor takes images only in user messages`, place)
  }
  const thoughts = thoughtsOf(placed, thinks, dropped)
  const content = [...thoughts.content, ...said]
  const calls = placed.message.parts.filter((part) => part.type === 'tool-call').map(callOf)
  if (content.length + calls.length === 0) return []
  return [
    {
      role: 'assistant',
      ...(content.length > 0 && { content: shortest(content) }),
      ...thoughts.plan,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

/**
 * Images with which a tool answered follow the answers as user content, because Cohere's tools answer with text.
 * `thinks`: the model accepts its earlier reasoning. Throws GatewayError for a part that cannot be expressed.
 */
export function encodeMessages(
  messages: readonly Message[],
  thinks: boolean,
  dropped: string[],
): JsonObject[] {
  const { system, rest } = turnsOf(messages, dropped)
  const said = system.flatMap((placed) => contentOf(placed, dropped))
  if (said.some(isImage)) {
    throw invalidRequest(
      "messages[0].content: this model's vendor takes images only in user messages",
      'messages',
    )
  }
  const out: JsonObject[] = said.length > 0 ? [{ role: 'system', content: shortest(said) }] : []
  let shown: JsonObject[] = []
  const show = (more: readonly JsonObject[] = []): void => {
    const content = [...shown, ...more]
    if (content.length > 0) out.push({ role: 'user', content: shortest(content) })
    shown = []
  }
  // The calls of a turn must be answered directly after it.
  for (const placed of withTurnsJoined(rest)) {
    if (placed.message.role === 'tool') {
      const content = contentOf(placed, dropped)
      out.push(answerOf(placed, content, dropped))
      shown.push(...content.filter(isImage))
    } else if (placed.message.role === 'assistant') {
      show()
      out.push(...assistantOf(placed, thinks, dropped))
    } else show(contentOf(placed, dropped))
  }
  show()
  return out.length > 0 ? out : [{ role: 'user', content: noText }]
}

function answerOf(
  { index, message }: Placed,
  content: JsonObject[],
  dropped: string[],
): JsonObject {
  if (message.isError) dropped.push(`messages[${index}].is_error`)
  const texts = content.filter((part) => !isImage(part))
  return {
    role: 'tool',
    tool_call_id: message.callId ?? '',
    content: texts.length === 0 ? '' : shortest(texts),
  }
}
