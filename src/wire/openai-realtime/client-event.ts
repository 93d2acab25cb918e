// Inspects client events of a realtime session: the models they name, and what they add to the next prompt.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { placeOf } from '../json/names.ts'
import { parseSpan } from '../json/scan.ts'
import { isObject, listOf } from '../json/value.ts'
import { type Body, nothingInside, present, readBody } from '../openai/body.ts'
import { stringOf } from '../openai/rules.ts'

/** What an event adds to the next prompt. */
export interface Added {
  readonly textBytes: number
  /** Bytes of audio after decoding. */
  readonly audioBytes: number
  readonly images: number
  /** Whether the event discards audio that is not committed yet. */
  readonly clears: boolean
}

export interface ClientEvent {
  readonly type: string
  /** The client's own id of the event, which errors repeat. */
  readonly eventId: string | null
  /** The event as it goes to the vendor: the client's bytes with names spelled plainly. */
  readonly bytes: Uint8Array
  /** The parsed event, if its type may name models; else null. */
  readonly settings: JsonObject | null
  readonly added: Added
}

const nothingAdded: Added = { textBytes: 0, audioBytes: 0, images: 0, clears: false }
/** Names of settings that decide an event's price, or that are counted. */
const session = placeOf(
  [
    'type',
    'model',
    'modalities',
    'output_modalities',
    'max_output_tokens',
    'instructions',
    'input',
  ],
  {
    audio: placeOf([], { input: placeOf([], { transcription: placeOf(['model']) }) }),
    input_audio_transcription: placeOf(['model']),
  },
)
const inside = nothingInside(
  placeOf(['type', 'event_id', 'audio', 'item'], { session, response: session }),
)

/** Throws GatewayError `invalid_request_error` for anything that is not an event. */
export function readClientEvent(bytes: Uint8Array): ClientEvent {
  return readBody(bytes, inside, (body) => {
    const member = present(body, 'type')
    if (member?.kind !== 'string') throw invalidRequest('type must be a string', 'type')
    const type = stringOf(body.bytes, member.start, member.end)
    const id = present(body, 'event_id')
    const eventId = id?.kind === 'string' ? stringOf(body.bytes, id.start, id.end) : null
    const settings = namesModels(type) ? parsed(body) : null
    return { type, eventId, bytes: body.bytes, settings, added: addedBy(body, type, settings) }
  })
}

function parsed({ bytes }: Body): JsonObject {
  return parseSpan(bytes, 0, bytes.length) as JsonObject
}

function namesModels(type: string): boolean {
  return type === 'response.create' || /^(transcription_)?session\./.test(type)
}

function addedBy(body: Body, type: string, settings: JsonObject | null): Added {
  if (type === 'input_audio_buffer.append') {
    const audio = present(body, 'audio')
    const length = audio?.kind === 'string' ? audio.end - audio.start - 2 : 0
    return { ...nothingAdded, audioBytes: Math.floor((length * 3) / 4) }
  }
  if (type === 'input_audio_buffer.clear') return { ...nothingAdded, clears: true }
  if (type === 'conversation.item.create') return addedItems([parsed(body).item])
  const response = settings?.response
  if (!isObject(response)) return nothingAdded
  const input = listOf(response.input)
  const { textBytes, ...rest } = addedItems(input)
  return { ...rest, textBytes: textBytes + textLength(response.instructions) }
}

function addedItems(items: readonly (JsonValue | undefined)[]): Added {
  let textBytes = 0
  let audioBytes = 0
  let images = 0
  for (const item of items) {
    if (!isObject(item)) continue
    textBytes += textLength(item.arguments) + textLength(item.output)
    for (const part of listOf(item.content)) {
      if (!isObject(part)) continue
      textBytes += textLength(part.text) + textLength(part.transcript)
      audioBytes += typeof part.audio === 'string' ? Math.floor((part.audio.length * 3) / 4) : 0
      images += part.type === 'input_image' ? 1 : 0
    }
  }
  return { textBytes, audioBytes, images, clears: false }
}

function textLength(value: JsonValue | undefined): number {
  return typeof value === 'string' ? new TextEncoder().encode(value).length : 0
}

/** A model in an event's settings that is charged for. */
interface ModelName {
  /** Parameter path, as errors name it. */
  readonly param: string
  readonly role: 'session' | 'transcription'
  readonly name: JsonValue
}

interface Place {
  readonly path: readonly string[]
  readonly role: ModelName['role']
}

/** Where models are named, in the current form of the API and in that of its beta. */
const places: readonly Place[] = [
  { path: ['session', 'model'], role: 'session' },
  { path: ['response', 'model'], role: 'session' },
  { path: ['session', 'audio', 'input', 'transcription', 'model'], role: 'transcription' },
  { path: ['session', 'input_audio_transcription', 'model'], role: 'transcription' },
]

function holderOf(settings: JsonObject, path: readonly string[]): JsonObject | null {
  let found: JsonValue | undefined = settings
  for (const name of path.slice(0, -1)) found = isObject(found) ? found[name] : undefined
  return isObject(found) ? found : null
}

/** All models that an event names, with values of any type. */
export function modelsNamed(settings: JsonObject): readonly ModelName[] {
  return places.flatMap(({ path, role }) => {
    const name = holderOf(settings, path)?.model
    return name == null ? [] : [{ param: path.join('.'), role, name }]
  })
}

/** The event with the vendor's own model names; the keys of `names` are parameter paths. */
export function withModelNames(
  settings: JsonObject,
  names: ReadonlyMap<string, string>,
): Uint8Array {
  const copy = structuredClone(settings) as JsonObject
  for (const { path } of places) {
    const name = names.get(path.join('.'))
    const holder = holderOf(copy, path)
    if (name !== undefined && holder !== null) holder['model'] = name
  }
  return new TextEncoder().encode(JSON.stringify(copy))
}
