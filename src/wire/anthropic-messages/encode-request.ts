// Encodes a request from the hub in Anthropic's Messages format, version 2023-06-01.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../codec.ts'
import { droppedFields, supportedFields } from '../hub/dropped-fields.ts'
import type { ChatRequest, JsonObject } from '../ir.ts'
import { objectOf } from '../json/value.ts'
import { answersByTool, encodeTools, formatOf } from './encode-tools.ts'
import { calledTools, encodeConversation, keepsItsThoughts, writeTurns } from './encode-turns.ts'
import { ownFields, self, writeCache } from './fields.ts'
import { type ModelTraits, refusedSampling, traitsOf } from './models.ts'
import { type Thinking, thinkingOf } from './thinking.ts'

/** Members of other formats whose meaning the hub's own fields already hold. */
const carriedElsewhere: ReadonlySet<string> = new Set(['max_tokens'])

/** The hub fields that this format can express, beside those every format can. */
const supported = supportedFields(
  'topK',
  'user',
  'safetyIdentifier',
  'reasoning',
  'serviceTier',
  'cache',
)

/**
 * `model` is the vendor's name of the model; models.ts tells what it accepts. Throws GatewayError naming what cannot
 * be expressed and would be missed; the rest is named in `dropped`.
 */
export function encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject> {
  refuseImpossible(request)
  const traits = traitsOf(model)
  const dropped = droppedFields(request, self, supported).filter(
    (name) => !carriedElsewhere.has(name),
  )
  const { system, turns } = encodeConversation(request.messages, dropped)
  const maxTokens = maxTokensOf(request, traits, dropped)
  const { fields: tools, forced } = encodeTools(request, traits, calledTools(turns), dropped)
  const keepsThoughts = keepsItsThoughts(turns)
  const thinking = thinkingOf(request, { traits, maxTokens, forced, keepsThoughts }, dropped)
  const { output_config: config, metadata, ...own } = ownFields(request.extra)
  const format = answersByTool(request, traits) ? {} : formatOf(request, traits, dropped)
  const effort = thinking.effort === null ? {} : { effort: thinking.effort }
  const output = { ...objectOf(config), ...effort, ...format }
  const user = { ...objectOf(metadata), ...userOf(request, dropped) }
  const body: JsonObject = {
    model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system: [...system] }),
    messages: writeTurns(turns),
    ...tools,
    ...samplingOf(request, thinking, traits, dropped),
    ...stopOf(request, dropped),
    ...(thinking.field !== null && { thinking: thinking.field }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
    ...(Object.keys(user).length > 0 && { metadata: user }),
    ...tierOf(request, dropped),
    ...writeCache(request.cache),
    ...own,
    ...(request.stream && { stream: true }),
  }
  return { value: body, dropped }
}

/** Anthropic has one field for the end user ("Create a Message", metadata): `user` goes there before its successor. */
function userOf({ user, safetyIdentifier }: ChatRequest, dropped: string[]): JsonObject {
  if (user !== undefined && safetyIdentifier !== undefined) dropped.push('safety_identifier')
  const id = user ?? safetyIdentifier
  return id === undefined ? {} : { user_id: id }
}

function refuseImpossible({ choices, modalities = [] }: ChatRequest): void {
  if (choices !== undefined && choices > 1) {
    throw invalidRequest("n: this model's vendor gives one reply to a request", 'n')
  }
  const other = modalities.find((each) => each !== 'text')
  if (other !== undefined) {
    throw invalidRequest(`modalities: this model's vendor gives no ${other}`, 'modalities')
  }
}

/** A limit above a known model's maximum is lowered to it, for the vendor would refuse it. */
function maxTokensOf(request: ChatRequest, traits: ModelTraits, dropped: string[]): number {
  const { maxOutputTokens: asked } = request
  if (asked === undefined) return traits.maxOutput
  if (!traits.known || asked <= traits.maxOutput) return asked
  dropped.push('max_tokens')
  return traits.maxOutput
}

/** The sampling fields the model accepts; a temperature of 1 is its default. */
function samplingOf(
  { temperature, topP, topK }: ChatRequest,
  { field }: Thinking,
  traits: ModelTraits,
  dropped: string[],
): JsonObject {
  const warmth = temperature === undefined ? undefined : Math.min(temperature, 1)
  if (warmth !== temperature) dropped.push('temperature')
  const given: Readonly<Record<string, number | undefined>> = {
    temperature: warmth,
    top_p: topP,
    top_k: topK,
  }
  const value = (name: string) => (name === 'thinking' ? (field ?? undefined) : given[name])
  const refused = refusedSampling(traits, value)
  const kept: JsonObject = {}
  for (const [name, asked] of Object.entries(given)) {
    if (asked === undefined) continue
    if (!refused.includes(name)) kept[name] = asked
    else if (name !== 'temperature' || asked !== 1) dropped.push(name)
  }
  return kept
}

/** Anthropic refuses stop texts of white space alone. */
function stopOf({ stop = [] }: ChatRequest, dropped: string[]): JsonObject {
  const kept = stop.filter((text) => text.trim() !== '')
  if (kept.length < stop.length) dropped.push('stop')
  return kept.length === 0 ? {} : { stop_sequences: kept }
}

const tiers: ReadonlyMap<string, string> = new Map(
  Object.entries({ auto: 'auto', default: 'standard_only' }),
)

function tierOf({ serviceTier }: ChatRequest, dropped: string[]): JsonObject {
  if (serviceTier === undefined) return {}
  const tier = tiers.get(serviceTier)
  if (tier !== undefined) return { service_tier: tier }
  dropped.push('service_tier')
  return {}
}
