// Converts all settings of a Responses request (everything but its input), for the vendor and for the reply to repeat.

import { invalidRequest } from '../../errors.ts'
import { supportedFields } from '../hub/dropped-fields.ts'
import { shortUser } from '../hub/short-user.ts'
import type {
  ChatRequest,
  Effort,
  JsonObject,
  JsonValue,
  Reasoning,
  ResponseFormat,
} from '../ir.ts'
import { isObject, stringOf } from '../json/value.ts'
import { hasFields, present } from '../openai-chat/hub-fields.ts'
import {
  effortFor,
  sharedFields,
  sharedObjects,
  sharedTexts,
  takeObjects,
} from '../openai-chat/hub-options.ts'
import { ownFields } from './hub-fields.ts'
import { encodeTools } from './hub-tools.ts'
import { textLogprobs } from './include.ts'

const efforts: ReadonlySet<string> = new Set([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
])
const shows: ReadonlySet<string> = new Set(['auto', 'concise', 'detailed'])

/**
 * Members that the gateway itself handles where the vendor speaks another format: storing of responses, and extra
 * content of replies.
 */
const kept = ['store', 'background', 'previous_response_id', 'conversation', 'include'] as const

export function takeKept(rest: JsonObject, wording: JsonObject): void {
  for (const name of kept) {
    if (rest[name] === undefined) continue
    wording[name] = rest[name]
    delete rest[name]
  }
  // The gateway never truncates a request, which is what `disabled` asks for.
  if (rest['truncation'] === 'disabled') {
    wording['truncation'] = 'disabled'
    delete rest['truncation']
  }
}

function isEffort(value: JsonValue | undefined): value is Effort {
  return typeof value === 'string' && efforts.has(value)
}

export function takeReasoning(rest: JsonObject): Pick<ChatRequest, 'reasoning'> {
  const { reasoning } = rest
  if (!isObject(reasoning)) return {}
  const { effort, summary, generate_summary: older, ...more } = present(reasoning)
  const show = stringOf(summary) || stringOf(older)
  const value: Reasoning = {
    ...(isEffort(effort) && { effort }),
    ...(shows.has(show) && { show: show as 'auto' | 'concise' | 'detailed' }),
  }
  // What the gateway does not know is for a vendor of this format, and named for any other.
  if (effort !== undefined && !isEffort(effort)) more['effort'] = effort
  if (summary !== undefined && value.show === undefined) more['summary'] = summary
  if (hasFields(more)) rest['reasoning'] = more
  else delete rest['reasoning']
  return hasFields(value as JsonObject) ? { reasoning: value } : {}
}

function formatOf(format: JsonObject): ResponseFormat | null {
  const { type, name, schema, description, strict } = present(format)
  if (type === 'text') return { type: 'text' }
  if (type === 'json_object') return { type: 'json' }
  if (type !== 'json_schema' || !isObject(schema)) return null
  return {
    type: 'schema',
    name: stringOf(name) || 'response',
    schema,
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
  }
}

/** Reads `text`: the response format and the verbosity. */
export function takeText(rest: JsonObject): Pick<ChatRequest, 'responseFormat' | 'verbosity'> {
  const { text } = rest
  if (!isObject(text)) return {}
  const { format, verbosity, ...more } = present(text)
  const responseFormat = isObject(format) ? formatOf(format) : null
  if (responseFormat === null && format !== undefined) more['format'] = format
  if (hasFields(more)) rest['text'] = more
  else delete rest['text']
  return {
    ...(responseFormat !== null && { responseFormat }),
    ...(typeof verbosity === 'string' && { verbosity }),
  }
}

const texts = [['user', 'user'], ...sharedTexts] as const
const numbers = [
  ['max_output_tokens', 'maxOutputTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
] as const

type Plain = Pick<
  ChatRequest,
  | (typeof texts)[number][1]
  | (typeof sharedObjects)[number][1]
  | (typeof numbers)[number][1]
  | 'metadata'
  | 'logprobs'
>

export function takePlain(rest: JsonObject): Plain {
  const found: { -readonly [Field in keyof Plain]: Plain[Field] } = takeObjects(rest)
  for (const [name, field] of texts) {
    const value = rest[name]
    if (typeof value !== 'string') continue
    found[field] = value
    delete rest[name]
  }
  for (const [name, field] of numbers) {
    const value = rest[name]
    if (typeof value !== 'number') continue
    found[field] = value
    delete rest[name]
  }
  const { metadata, include, top_logprobs: top } = rest
  if (isObject(metadata)) {
    found.metadata = metadata
    delete rest['metadata']
  }
  // Without `include`, `top_logprobs` has no effect.
  if (Array.isArray(include) && include.includes(textLogprobs)) {
    found.logprobs = typeof top === 'number' ? top : 0
    delete rest['top_logprobs']
  } else if (top === 0) delete rest['top_logprobs']
  return found
}

function encodeFormat(format: ResponseFormat): JsonObject {
  if (format.type === 'text') return { type: 'text' }
  if (format.type === 'json') return { type: 'json_object' }
  const { name, schema, description, strict } = format
  return {
    type: 'json_schema',
    name,
    schema,
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
  }
}

function encodeText({ responseFormat, verbosity }: ChatRequest, own: JsonObject): JsonObject {
  const { text } = own
  const body = {
    ...(responseFormat !== undefined && { format: encodeFormat(responseFormat) }),
    ...(verbosity !== undefined && { verbosity }),
    ...(isObject(text) && text),
  }
  return hasFields(body) ? { text: body } : {}
}

function encodeReasoning({ reasoning }: ChatRequest, own: JsonObject): JsonObject {
  const effort = reasoning === undefined ? null : effortFor(reasoning)
  const show = reasoning?.show
  const body = {
    ...(effort !== null && { effort }),
    ...(show !== undefined && show !== 'none' && { summary: show }),
    ...(isObject(own['reasoning']) && own['reasoning']),
  }
  return hasFields(body) ? { reasoning: body } : {}
}

/** The hub fields that this format can express, beside those every format can. */
export const supported = supportedFields(
  'user',
  'reasoning',
  'logprobs',
  'verbosity',
  'metadata',
  ...sharedFields,
)

/** Throws GatewayError for what must not be left out. */
function refuse({ choices = 1, modalities = [] }: ChatRequest): void {
  if (choices > 1) throw invalidRequest('n must be 1: this model gives one reply', 'n')
  const other = modalities.find((name) => name !== 'text')
  if (other === undefined) return
  throw invalidRequest(`modalities: this model cannot answer with '${other}'`, 'modalities')
}

/** Writes all members of the body but `model`, `input` and `stream`. */
export function encodeSettings(request: ChatRequest, dropped: string[]): JsonObject {
  refuse(request)
  // The format has no stop texts. The models that are asked in it refuse them in chats too, and there they are left out.
  if (request.stop !== undefined && request.stop.length > 0) dropped.push('stop')
  const own = ownFields(request.extra)
  const body: JsonObject = { ...own }
  for (const [name, field] of [...texts, ...sharedObjects]) {
    if (request[field] !== undefined) body[name] = request[field]
  }
  if (request.user !== undefined) body['user'] = shortUser(request.user)
  for (const [name, field] of numbers) if (request[field] !== undefined) body[name] = request[field]
  if (request.metadata !== undefined) body['metadata'] = request.metadata
  if (request.logprobs !== undefined) {
    body['top_logprobs'] = request.logprobs
    body['include'] = [textLogprobs]
  }
  return {
    ...body,
    ...encodeReasoning(request, own),
    ...encodeText(request, own),
    ...encodeTools(request, dropped),
    ...ownFields(request.wording),
  }
}
