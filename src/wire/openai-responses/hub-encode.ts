// Encodes a hub request in the Responses format, stateless: the vendor stores nothing of it.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../codec.ts'
import { droppedFields } from '../hub/dropped-fields.ts'
import type {
  ChatRequest,
  JsonObject,
  JsonValue,
  Message,
  ReasoningPart,
  RequestPart,
  ToolCallPart,
} from '../ir.ts'
import { isObject, listOf, stringOf } from '../json/value.ts'
import { hasFields } from '../openai-chat/hub-fields.ts'
import { ownFields, self } from './hub-fields.ts'
import { breakpointOf, type ContentPart, encodePart } from './hub-parts.ts'
import { encodeSettings, supported } from './hub-settings.ts'
import { encryptsReasoning, withEncrypted } from './include.ts'

/** Models that label their messages as commentary or as the answer, and read these labels. Source: OpenAI, `phase`. */
const withPhases = /(^|[/:])gpt-(5\.(3-codex|[4-9]|\d\d)|[6-9]|\d\d)/

class Input {
  /** The client's format does not tell the messages' phases, and the model reads them. */
  private readonly labels: boolean
  readonly items: JsonObject[] = []
  readonly dropped: string[] = []
  /** Ids of calls to tools with text input: their answers are items of another type. */
  private readonly customIds = new Set<string>()

  constructor(labels: boolean) {
    this.labels = labels
  }

  /** `next` is the message after it. */
  take(message: Message, index: number, next: Message | undefined): void {
    if (ownFields(message.extra)['instructions'] === true) return
    const { item } = ownFields(message.native)
    if (isObject(item)) this.items.push(item)
    else if (message.role === 'tool') this.answer(message, index)
    else this.turn(message, index, this.phaseOf(message, next))
  }

  /** Text beside calls, or before another message of the model's, is commentary; a text to be continued is neither. */
  private phaseOf({ role, parts }: Message, next: Message | undefined): JsonObject {
    if (!this.labels || role !== 'assistant' || next === undefined) return {}
    const goesOn = next.role === 'assistant' || parts.some(({ type }) => type === 'tool-call')
    return { phase: goesOn ? 'commentary' : 'final_answer' }
  }

  private turn({ role, parts, extra }: Message, index: number, phase: JsonObject): void {
    const own = ownFields(extra)
    const said = role === 'assistant'
    let content: JsonObject[] = []
    let written = false
    const flush = (): void => {
      if (content.length === 0 && (written || !hasFields(own))) return
      const fields = written ? {} : own
      this.items.push({ role, content: contentOf(content, said, fields), ...fields, ...phase })
      written = true
      content = []
    }
    for (const [at, part] of parts.entries()) {
      const place = `messages[${index}].content[${at}]`
      // An empty text beside calls, as chat clients send it, would be an empty message.
      if (said && parts.length > 1 && !hasFields(own) && isEmptyText(part)) continue
      if (part.type === 'reasoning') {
        if (content.length > 0) flush()
        this.reasoning(part, index)
      } else if (part.type === 'tool-call') {
        if (content.length > 0) flush()
        this.call(part, place)
      } else if (said && isItem(part)) {
        if (content.length > 0) flush()
        this.items.push(ownFields(part.extra))
      } else {
        const encoded = this.content(part, said, place)
        if (encoded !== null) content.push(encoded)
      }
    }
    flush()
  }

  private content(part: ContentPart, said: boolean, place: string): JsonObject | null {
    const encoded = encodePart(part, said, place)
    // Foreign parts of past replies can be left out; in user input the question may depend on them.
    if (encoded === null && !said) {
      throw invalidRequest(`${place}: this model's vendor takes no such part`, place)
    }
    if (encoded === null) this.dropped.push(place)
    else if (part.cache !== undefined && !hasFields(breakpointOf(part))) {
      this.dropped.push(`${place}.cache_control`)
    }
    return encoded
  }

  /** Of another format's reasoning only the opaque state is sent: the vendor reads nothing else back. */
  private reasoning({ text, sealed, extra }: ReasoningPart, index: number): void {
    const own = ownFields(extra)
    if (sealed === undefined && !hasFields(own)) {
      if (text !== '') this.dropped.push(`messages[${index}].reasoning_content`)
      return
    }
    if (own['type'] === 'compaction') {
      if (sealed !== undefined) this.items.push({ encrypted_content: sealed, ...own })
      return
    }
    const summary = text === '' ? [] : [{ type: 'summary_text', text }]
    const encrypted = sealed === undefined ? {} : { encrypted_content: sealed }
    this.items.push({ type: 'reasoning', summary, ...encrypted, ...own })
  }

  private call(part: ToolCallPart, place: string): void {
    const { id, name, arguments: input, custom, cache, extra, native } = part
    if (cache !== undefined) this.dropped.push(`${place}.cache_control`)
    const { item, ...origin } = ownFields(native)
    const own = { ...ownFields(extra), ...origin }
    if (isObject(item)) this.items.push(item)
    else if (custom) {
      this.customIds.add(id)
      this.items.push({ type: 'custom_tool_call', call_id: id, name, input, ...own })
    } else {
      const text = input === '' ? '{}' : input
      this.items.push({ type: 'function_call', call_id: id, name, arguments: text, ...own })
    }
  }

  private answer({ parts, callId = '', isError, extra, native }: Message, index: number): void {
    const { custom } = ownFields(native)
    const own = ownFields(extra)
    const content: JsonObject[] = []
    for (const [at, part] of parts.entries()) {
      if (part.type === 'reasoning' || part.type === 'tool-call') continue
      const encoded = this.content(part, false, `messages[${index}].content[${at}]`)
      if (encoded !== null) content.push(encoded)
    }
    if (isError) this.dropped.push(`messages[${index}].is_error`)
    const isCustom = custom === true || this.customIds.has(callId)
    const type = isCustom ? 'custom_tool_call_output' : 'function_call_output'
    this.items.push({ type, call_id: callId, output: outputOf(content), ...own })
  }
}

/** An item of this format alone, or a picture that its vendor made. */
function isItem({ type, extra }: RequestPart): boolean {
  if (type === 'other') return extra[self] !== undefined
  return type === 'image' && extra?.[self]?.['type'] === 'image_generation_call'
}

function isEmptyText(part: RequestPart): boolean {
  return part.type === 'text' && part.text === ''
}

/** Joins a tool's texts: OpenAI alone reads several parts, and marks of the prompt cache on them. */
function outputOf(content: readonly JsonObject[]): JsonValue {
  const plain = content.every(
    (part) => part['type'] === 'input_text' && part['prompt_cache_breakpoint'] === undefined,
  )
  if (!plain) return [...content]
  return content.map((part) => stringOf(part['text'])).join('')
}

/** A single plain text becomes a string, empty texts beside others are left out; an item with an id keeps its form. */
function contentOf(parts: readonly JsonObject[], said: boolean, own: JsonObject): JsonValue {
  const [first] = parts
  const isText = (part: JsonObject): boolean => typeof part['text'] === 'string'
  const plain = parts.length === 1 && first !== undefined && Object.keys(first).length === 2
  if (plain && isText(first) && own['id'] === undefined) return stringOf(first['text'])
  const kept = parts.filter((part) => !(isText(part) && part['text'] === ''))
  if (kept.length === 0) return parts.length === 0 ? [] : ''
  if (!said || own['id'] === undefined) return kept
  return kept.map((part) => (isText(part) ? { annotations: [], ...part } : part))
}

/** Throws GatewayError for what must not be left out. Asks for reasoning that can be sent back: nothing is stored. */
export function encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject> {
  const dropped = droppedFields(request, self, supported)
  const settings = encodeSettings(request, dropped)
  const { messages, wording } = request
  const input = new Input(wording?.[self] === undefined && withPhases.test(model))
  for (const [index, message] of messages.entries()) input.take(message, index, messages[index + 1])
  if (input.items.length === 0 && request.messages.length > 0 && settings['instructions'] == null) {
    throw invalidRequest('messages must hold something this model can read', 'messages')
  }
  dropped.push(...input.dropped)
  const { background: _, previous_response_id: __, conversation: ___, ...rest } = settings
  const body: JsonObject = { model, input: input.items, ...rest, store: false }
  const asked = listOf(settings['include'])
  const include = encryptsReasoning(model) ? withEncrypted(asked) : asked
  if (include.length > 0) body['include'] = include
  if (request.stream) body['stream'] = true
  return { value: body, dropped }
}
