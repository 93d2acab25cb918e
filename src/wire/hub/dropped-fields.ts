// Finds what a request asks for that a format cannot express: named if it may be left out, refused if it may not.

import { invalidRequest } from '../../errors.ts'
import {
  type ChatField,
  type ChatRequest,
  chatFieldNames,
  type Extra,
  type JsonObject,
  type JsonValue,
  type Message,
  type RequestPart,
  type ResponseFormat,
} from '../ir.ts'
import { isObject } from '../json/value.ts'

const fieldNames = Object.entries(chatFieldNames) as readonly (readonly [ChatField, string])[]

function named(...names: readonly string[]): ReadonlySet<string> {
  return new Set(names)
}

/** Marks of the prompt cache, which the hub has in a field of its own. */
const cacheMembers = ['cache_control', 'prompt_cache_breakpoint'] as const

/** The fields that every encoder expresses, or refuses by name. */
const common: readonly ChatField[] = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'stop',
  'choices',
  'tools',
  'toolChoice',
  'parallelToolCalls',
  'responseFormat',
  'modalities',
]

/** The fields a format can express, for `droppedFields`. */
export function supportedFields(...more: readonly ChatField[]): ReadonlySet<ChatField> {
  return new Set([...common, ...more])
}

/**
 * Members that other formats can do without, by where they stand: what only says where a text or a call came from, what
 * decoders keep for their own format, and what the hub has read. Any other member of a foreign format is named.
 */
const needless = {
  message: named(
    ...[
      'id',
      'status',
      'type',
      'role',
      'content',
      'refusal',
      'annotations',
      'parsed',
      'instructions',
      'phase',
    ],
    ...['reasoning_content', 'reasoning', 'thinking_blocks', 'reasoning_details'],
  ),
  /** An output has the name of its function, which is known from the call. */
  answer: named('id', 'status', 'type', 'role', 'name', 'content', 'response'),
  text: named('id', 'type', 'refusal', 'annotations', 'logprobs', 'citations', ...cacheMembers),
  media: named('source', 'file_data', 'mimeType', 'thoughtSignature', ...cacheMembers),
  call: named('id', 'status', 'type', 'index', 'created_by', 'function_call', 'thought'),
  tool: named('deprecated', 'eager_input_streaming', ...cacheMembers),
} as const

/** Fields of a request with the value that says no more than their absence does, if no vendor keeps replies. */
const neutral: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['store', false],
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['service_tier', 'auto'],
])
/** Fields that are the same if they have no members. */
const collections = named('logit_bias', 'metadata')

function isNeutral(name: string, value: JsonValue | undefined): boolean {
  if (neutral.has(name)) return neutral.get(name) === value
  return collections.has(name) && isObject(value) && Object.keys(value).length === 0
}

/** Objects whose members are named in their place. */
const nested = named('image_url', 'file', 'input_audio', 'function', 'custom')

/** Whether the member says no more than its absence does. */
function isDefault(name: string, value: JsonValue | undefined): boolean {
  if (value == null || value === false) return true
  if (name === 'caller') return isObject(value) && value['type'] === 'direct'
  if (name !== 'allowed_callers') return false
  return Array.isArray(value) && value.every((each) => each === 'direct')
}

function membersLost(fields: JsonObject, known: ReadonlySet<string>, place: string): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (known.has(name) || isDefault(name, value)) return []
    const path = `${place}.${name}`
    return nested.has(name) && isObject(value) ? membersLost(value, known, path) : [path]
  })
}

function foreignMembers(
  extra: Extra | undefined,
  format: string,
  kind: keyof typeof needless,
  place: string,
): string[] {
  const others = Object.entries(extra ?? {}).filter(([owner]) => owner !== format)
  return others.flatMap(([, fields]) => membersLost(fields, needless[kind], place))
}

function lostOfPart(part: RequestPart, format: string, place: string): string[] {
  const { type, extra } = part
  // Encoders name these themselves.
  if (type === 'other' || type === 'reasoning') return []
  if (type === 'tool-call') return foreignMembers(extra, format, 'call', place)
  // A block or an item that the part stands for as a whole.
  if (Object.values(extra ?? {}).some((fields) => isWhole(fields))) return []
  return foreignMembers(extra, format, type === 'text' ? 'text' : 'media', place)
}

function isWhole({ type }: JsonObject): boolean {
  return type !== undefined && type !== 'refusal'
}

function lostOfMessage({ role, extra, parts }: Message, format: string, place: string): string[] {
  return [
    ...foreignMembers(extra, format, role === 'tool' ? 'answer' : 'message', place),
    ...parts.flatMap((part, at) => lostOfPart(part, format, `${place}.content[${at}]`)),
  ]
}

/**
 * What an encoder leaves out, by the names clients know: fields private to formats other than `format`, then hub
 * fields that are not in `supported`.
 */
export function droppedFields(
  request: ChatRequest,
  format: string,
  supported: ReadonlySet<ChatField>,
): string[] {
  const dropped: string[] = []
  for (const [owner, fields] of Object.entries(request.extra ?? {})) {
    if (owner !== format)
      dropped.push(...Object.keys(fields).filter((name) => !isNeutral(name, fields[name])))
  }
  for (const [field, name] of fieldNames) {
    const value = request[field]
    if (value === undefined || supported.has(field)) continue
    if (!isNeutral(name, value as JsonValue)) dropped.push(name)
  }
  for (const [at, message] of request.messages.entries())
    dropped.push(...lostOfMessage(message, format, `messages[${at}]`))
  for (const [at, tool] of (request.tools ?? []).entries()) {
    if (tool.type !== 'other')
      dropped.push(...foreignMembers(tool.extra, format, 'tool', `tools[${at}]`))
  }
  return dropped
}

/** Checks for formats with a single reply, of text alone, and at most `maxStops` stop texts. Throws GatewayError. */
export function refuseUnsupported(request: ChatRequest, maxStops: number): void {
  const { choices = 1, stop = [], modalities = [] } = request
  if (choices > 1) {
    throw invalidRequest('n: this model gives one reply to a request', 'n')
  }
  if (stop.length > maxStops) {
    throw invalidRequest(`stop may have at most ${maxStops} texts for this model`, 'stop')
  }
  const other = modalities.find((name) => name !== 'text')
  if (other !== undefined) {
    throw invalidRequest(`modalities: this model replies in text and not in ${other}`, 'modalities')
  }
}

/** For formats that have no description of the whole reply beside its schema. */
export function dropDescription(format: ResponseFormat, dropped: string[]): void {
  if (format.type !== 'schema' || format.description === undefined) return
  dropped.push('response_format.json_schema.description')
}

/** `value` limited to the format's range; `name` goes to `dropped` if the value had to change. */
export function clamped(
  value: number,
  [least, most]: readonly [number, number],
  name: string,
  dropped: string[],
): number {
  if (value >= least && value <= most) return value
  dropped.push(name)
  return value < least ? least : most
}
