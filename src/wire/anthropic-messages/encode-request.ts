// A request out of the hub, in Anthropic's Messages format of version 2023-06-01.

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

/** Members of other formats that say what the hub has carried already. */
const carriedElsewhere: ReadonlySet<string> = new Set(['max_tokens'])

/** Of the hub's fields, beside what every format knows. */
const supported = supportedFields(
  'topK',
  'user',
  'safetyIdentifier',
  'reasoning',
  'serviceTier',
  'cache',
)

/**
 * `model` is the vendor's name; what it takes is looked up in the table of models.ts. Throws GatewayError naming what
 * cannot be said and would be missed; the rest is named in `dropped`.
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

/** Anthropic has one place for who asks ("Create a Message", metadata): `user` stands there before what replaced it. */
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

/** A limit above what a known model may say is the model's own, as the vendor would refuse it. */
function maxTokensOf(request: ChatRequest, traits: ModelTraits, dropped: string[]): number {
  const { maxOutputTokens: asked } = request
  if (asked === undefined) return traits.maxOutput
  if (!traits.known || asked <= traits.maxOutput) return asked
  dropped.push('max_tokens')
  return traits.maxOutput
}

/** What the model takes of it; a temperature of 1 is what it has anyway. */
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

/** White space alone is no place to stop at. */
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
