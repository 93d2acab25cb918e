// Finds what a request asks for that a format cannot express: named if it may be left out, refused if it may not.

import { invalidRequest } from '../../errors.ts'
import {
  type ChatField,
  type ChatRequest,
  chatFieldNames,
  type Extra,
  type Message,
  type RequestPart,
  type ResponseFormat,
} from '../ir.ts'

const fieldNames = Object.entries(chatFieldNames) as readonly (readonly [ChatField, string])[]

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

/** Members that only one format has and that tell the model something, by where they stand. */
const ownOfFormats = {
  message: ['name', 'audio'],
  part: ['videoMetadata', 'mediaResolution'],
  /** Beside citations of a text in the history, which only say where it came from. */
  file: ['videoMetadata', 'mediaResolution', 'context', 'citations'],
  tool: ['input_examples', 'behavior', 'response'],
} as const

function foreignMembers(
  extra: Extra | undefined,
  format: string,
  kind: keyof typeof ownOfFormats,
  place: string,
): string[] {
  const others = Object.entries(extra ?? {}).filter(([owner]) => owner !== format)
  return others.flatMap(([, fields]) =>
    ownOfFormats[kind]
      .filter((name) => fields[name] !== undefined)
      .map((name) => `${place}.${name}`),
  )
}

function lostOfPart({ type, extra }: RequestPart, format: string, place: string): string[] {
  return foreignMembers(extra, format, type === 'file' ? 'file' : 'part', place)
}

/** A tool's output has the name of its function, which is known from the call. */
function lostOfMessage({ role, extra, parts }: Message, format: string, place: string): string[] {
  return [
    ...(role === 'tool' ? [] : foreignMembers(extra, format, 'message', place)),
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
    if (owner !== format) dropped.push(...Object.keys(fields))
  }
  for (const [field, name] of fieldNames) {
    if (request[field] !== undefined && !supported.has(field)) dropped.push(name)
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
