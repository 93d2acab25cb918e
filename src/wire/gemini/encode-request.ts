// Encodes a hub request for Gemini; what Gemini cannot express is refused where it matters, else named in `dropped`.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../codec.ts'
import { dropDescription, droppedFields, supportedFields } from '../hub/dropped-fields.ts'
import { noText } from '../hub/turns.ts'
import type { ChatRequest, JsonObject, JsonValue, ResponseFormat } from '../ir.ts'
import { objectOf, setMember } from '../json/value.ts'
import { encodeContents } from './encode-contents.ts'
import { encodeTools } from './encode-tools.ts'
import { ownFields, self } from './fields.ts'
import { type Encoding, traitsOf } from './models.ts'
import { schemaOf } from './schema.ts'
import { thinkingOf } from './thinking.ts'

const maxStops = 5
const maxChoices = 8
const maxTemperature = 2
const maxLogprobs = 20

/** The hub fields that this format can express, beside those every format can. */
const supported = supportedFields(
  'topK',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'reasoning',
  'logprobs',
  'serviceTier',
)

function droppedOf(request: ChatRequest): string[] {
  const { serviceTier: tier } = request
  const dropped = droppedFields(request, self, supported)
  // `auto` is Google's default.
  if (tier !== undefined && tier !== 'auto') dropped.push('service_tier')
  return dropped
}

function sampling(request: ChatRequest, dropped: string[]): JsonObject {
  const { temperature, stop = [], choices } = request
  if (temperature !== undefined && temperature > maxTemperature) dropped.push('temperature')
  const stops = stop.filter((text) => text !== '')
  if (stops.length > maxStops) {
    throw invalidRequest(`stop may hold at most ${maxStops} texts for this model`, 'stop')
  }
  if (choices !== undefined && choices > maxChoices) {
    throw invalidRequest(`n may be at most ${maxChoices} for this model`, 'n')
  }
  return present({
    maxOutputTokens: request.maxOutputTokens,
    temperature: temperature === undefined ? undefined : Math.min(temperature, maxTemperature),
    topP: request.topP,
    topK: request.topK,
    candidateCount: choices === 1 ? undefined : choices,
    stopSequences: stops.length > 0 ? stops : undefined,
    seed: request.seed,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
  })
}

function present(fields: JsonObject): JsonObject {
  const kept: JsonObject = {}
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name]
  return kept
}

function probabilities({ logprobs }: ChatRequest): JsonObject {
  if (logprobs === undefined) return {}
  return {
    responseLogprobs: true,
    ...(logprobs > 0 && { logprobs: Math.min(logprobs, maxLogprobs) }),
  }
}

function formatOf(format: ResponseFormat | undefined, { traits, dropped }: Encoding): JsonObject {
  if (format === undefined || format.type === 'text') return {}
  const responseMimeType = 'application/json'
  if (format.type === 'json') return { responseMimeType }
  const { $schema: _, ...schema } = format.schema
  dropDescription(format, dropped)
  return traits.jsonSchema
    ? { responseMimeType, responseJsonSchema: schema }
    : { responseMimeType, responseSchema: schemaOf(schema) }
}

function modalitiesOf({ modalities = [] }: ChatRequest): JsonObject {
  const words = modalities.map((word) => word.toUpperCase())
  return words.length === 0 || (words.length === 1 && words[0] === 'TEXT')
    ? {}
    : { responseModalities: words }
}

/** Audio replies are raw samples, which only clients of this format know how to request and play. */
function checkSound(request: ChatRequest, own: JsonObject): void {
  if (!request.modalities?.includes('audio')) return
  if (own['generationConfig.speechConfig'] !== undefined) return
  if (request.extra?.[self] !== undefined) return
  throw invalidRequest('this model cannot answer with audio in this format', 'modalities')
}

/** Puts private fields back: `generationConfig.x` and `toolConfig.x` inside their objects. */
function restored(body: JsonObject, own: JsonObject): void {
  for (const [name, value] of Object.entries(own)) restore(body, name, value)
}

function restore(body: JsonObject, path: string, value: JsonValue | undefined): void {
  const dot = path.indexOf('.')
  if (dot < 0) {
    if (!Object.hasOwn(body, path)) setMember(body, path, value)
    return
  }
  const parent = path.slice(0, dot)
  const inside = { ...objectOf(body[parent]) }
  restore(inside, path.slice(dot + 1), value)
  setMember(body, parent, inside)
}

/** `model` is the vendor's name; it goes into the URL, as does whether the reply is streamed. */
export function encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject> {
  const encoding: Encoding = { traits: traitsOf(model), dropped: droppedOf(request) }
  const { system, contents } = encodeContents(request.messages, encoding)
  const own = ownFields(request.extra)
  checkSound(request, own)
  const thinking = thinkingOf(request.reasoning, encoding)
  const generationConfig: JsonObject = {
    ...sampling(request, encoding.dropped),
    ...probabilities(request),
    ...formatOf(request.responseFormat, encoding),
    ...modalitiesOf(request),
    ...(thinking !== null && { thinkingConfig: thinking }),
  }
  const body: JsonObject = {
    ...(system !== null && { systemInstruction: system }),
    contents: [...contents],
    ...encodeTools(request, encoding),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  }
  restored(body, own)
  if (contents.length === 0) {
    // Google requires at least one turn, so that a lone instruction becomes the turn.
    body['contents'] = [{ role: 'user', parts: system?.['parts'] ?? [{ text: noText }] }]
    delete body['systemInstruction']
  }
  return { value: body, dropped: [...new Set(encoding.dropped)] }
}
