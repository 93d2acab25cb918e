// A request out of the hub, in Anthropic's Messages format of version 2023-06-01.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../dialect.ts'
import type { ChatRequest, JsonObject } from '../ir.ts'
import { answersByTool, encodeTools, formatOf } from './encode-tools.ts'
import { calledTools, encodeConversation, keepsItsThoughts, writeTurns } from './encode-turns.ts'
import { objectOf, ownFields, self, writeCache } from './fields.ts'
import { type ModelTraits, traitsOf } from './models.ts'
import { type Thinking, thinkingOf } from './thinking.ts'

/** Members of other formats that say what the hub has carried already. */
const carriedElsewhere: ReadonlySet<string> = new Set(['max_tokens'])

/** What the hub holds and this format has no word for, by the names clients know. */
const unsaid: readonly (readonly [field: keyof ChatRequest, name: string])[] = [
  ['seed', 'seed'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['presencePenalty', 'presence_penalty'],
  ['logitBias', 'logit_bias'],
  ['logprobs', 'logprobs'],
  ['verbosity', 'verbosity'],
  ['metadata', 'metadata'],
  ['promptCacheKey', 'prompt_cache_key'],
]

/**
 * `model` is the vendor's name; what it takes is looked up in the table of models.ts. Throws GatewayError naming what
 * cannot be said and would be missed; the rest is named in `dropped`.
 */
export function encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject> {
  refuseImpossible(request)
  const traits = traitsOf(model)
  const dropped = droppedOf(request)
  const { system, turns } = encodeConversation(request.messages, dropped)
  const maxTokens = maxTokensOf(request, traits, dropped)
  const { fields: tools, forced } = encodeTools(request, traits, calledTools(turns), dropped)
  const keepsThoughts = keepsItsThoughts(turns)
  const thinking = thinkingOf(request, { traits, maxTokens, forced, keepsThoughts }, dropped)
  const { output_config: config, metadata, ...own } = ownFields(request.extra)
  const format = answersByTool(request, traits) ? {} : formatOf(request, traits, dropped)
  const effort = thinking.effort === null ? {} : { effort: thinking.effort }
  const output = { ...objectOf(config), ...effort, ...format }
  const user = {
    ...objectOf(metadata),
    ...(request.user !== undefined && { user_id: request.user }),
  }
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

function refuseImpossible({ choices, modalities = [] }: ChatRequest): void {
  if (choices !== undefined && choices > 1) {
    throw invalidRequest("n: this model's vendor gives one reply to a request", 'n')
  }
  const other = modalities.find((each) => each !== 'text')
  if (other !== undefined) {
    throw invalidRequest(`modalities: this model's vendor gives no ${other}`, 'modalities')
  }
}

function droppedOf(request: ChatRequest): string[] {
  const names: string[] = []
  for (const [owner, fields] of Object.entries(request.extra ?? {})) {
    if (owner === self) continue
    names.push(...Object.keys(fields).filter((name) => !carriedElsewhere.has(name)))
  }
  for (const [field, name] of unsaid) if (request[field] !== undefined) names.push(name)
  return names
}

/** A limit above what a known model may say is the model's own, as the vendor would refuse it. */
function maxTokensOf(request: ChatRequest, traits: ModelTraits, dropped: string[]): number {
  const { maxOutputTokens: asked } = request
  if (asked === undefined) return traits.maxOutput
  if (!traits.known || asked <= traits.maxOutput) return asked
  dropped.push('max_tokens')
  return traits.maxOutput
}

/** Thinking allows no temperature but 1, no top_k, and a top_p of 0.95 at least ("Extended thinking", compatibility). */
function samplingOf(
  { temperature, topP, topK }: ChatRequest,
  { field }: Thinking,
  { sampling, samplingBoth }: ModelTraits,
  dropped: string[],
): JsonObject {
  const thinks = field !== null && field.type !== 'disabled'
  const kept: JsonObject = {}
  const take = (name: string, value: number | undefined, allowed: boolean): void => {
    if (value === undefined) return
    if (allowed) kept[name] = value
    else dropped.push(name)
  }
  const warmth = temperature === undefined ? undefined : Math.min(temperature, 1)
  if (warmth !== temperature) dropped.push('temperature')
  const keepsTemperature = sampling && !thinks
  if (keepsTemperature || warmth !== 1) take('temperature', warmth, keepsTemperature)
  const beside = keepsTemperature && temperature !== undefined && !samplingBoth
  take('top_p', topP, sampling && !beside && (!thinks || (topP ?? 0) >= 0.95))
  take('top_k', topK, sampling && !thinks)
  return kept
}

/** White space alone is no place to stop at. */
function stopOf({ stop = [] }: ChatRequest, dropped: string[]): JsonObject {
  const kept = stop.filter((text) => text.trim() !== '')
  if (kept.length < stop.length) dropped.push('stop')
  return kept.length === 0 ? {} : { stop_sequences: kept }
}

const tiers: Readonly<Record<string, string>> = { auto: 'auto', default: 'standard_only' }

function tierOf({ serviceTier }: ChatRequest, dropped: string[]): JsonObject {
  if (serviceTier === undefined) return {}
  const tier = tiers[serviceTier]
  if (tier !== undefined) return { service_tier: tier }
  dropped.push('service_tier')
  return {}
}
