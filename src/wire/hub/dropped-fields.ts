// Finds what a request asks for that a format cannot express: named if it may be left out, refused if it may not.

import { invalidRequest } from '../../errors.ts'
import { type ChatField, type ChatRequest, chatFieldNames } from '../ir.ts'

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
