// Encodes a chat request for Bedrock's Converse ("Converse", Bedrock Runtime API reference); the model is in the URL.

import { thinkingOf } from '../anthropic-messages/thinking.ts'
import type { Decoded } from '../codec.ts'
import {
  clamped,
  droppedFields,
  refuseUnsupported,
  supportedFields,
} from '../hub/dropped-fields.ts'
import type { ChatRequest, JsonObject } from '../ir.ts'
import { effortFor } from '../openai-chat/hub-options.ts'
import { cachePoint, type Writing } from './content.ts'
import { type Family, familyOf } from './families.ts'
import { encodeTools, outputConfigOf } from './tools.ts'
import {
  calledTools,
  encodeConversation,
  keepsItsThoughts,
  type Turn,
  writeTurns,
} from './turns.ts'

const maxStops = 2_500

/** Model-specific reasoning settings, for `additionalModelRequestFields`. */
interface Thought {
  readonly fields: JsonObject
  /** Claude thinks, which excludes sampling settings. */
  readonly thinks: boolean
}

function claudeThought(
  request: ChatRequest,
  turns: readonly Turn[],
  forced: boolean,
  { family, dropped }: Writing,
): Thought {
  const { traits } = family
  if (traits === null) return { fields: {}, thinks: false }
  const bounds = {
    traits,
    maxTokens: request.maxOutputTokens ?? traits.maxOutput,
    forced,
    keepsThoughts: keepsItsThoughts(turns),
  }
  const { field, effort } = thinkingOf(request, bounds, dropped)
  const fields = {
    ...(field !== null && { thinking: field }),
    ...(effort !== null && { output_config: { effort } }),
  }
  return { fields, thinks: field !== null && field['type'] !== 'disabled' }
}

/** Nova's `reasoningConfig` has three efforts; OpenAI's open models accept the effort itself. */
function otherThought(request: ChatRequest, { family, dropped }: Writing): JsonObject {
  const { reasoning } = request
  const effort = reasoning === undefined ? null : effortFor(reasoning)
  if (effort === null) return {}
  if (family.name === 'gpt') return { reasoning_effort: effort }
  if (!family.configured) {
    // A model that never thinks already satisfies `none`.
    if (effort !== 'none') dropped.push('reasoning_effort')
    return {}
  }
  if (effort === 'none') return { reasoningConfig: { type: 'disabled' } }
  const known =
    effort === 'low' || effort === 'minimal' ? 'low' : effort === 'medium' ? effort : 'high'
  const lowered = known === 'high' && isBounded(request)
  if (lowered) dropped.push('reasoning_effort')
  return { reasoningConfig: { type: 'enabled', maxReasoningEffort: lowered ? 'medium' : known } }
}

/** Has what Nova refuses beside the effort `high`: `maxTokens`, `temperature`, `topP` (AWS, "Extended thinking"). */
function isBounded({ maxOutputTokens, temperature, topP, topK }: ChatRequest): boolean {
  return [maxOutputTokens, temperature, topP, topK].some((each) => each !== undefined)
}

function topKOf(topK: number, { name }: Family, dropped: string[]): JsonObject {
  if (name === 'claude') return { top_k: topK }
  if (name === 'nova') return { inferenceConfig: { topK } }
  dropped.push('top_k')
  return {}
}

/** The sampling fields the model accepts: newer Claude models none, older ones not temperature and top_p at once. */
interface Sampling {
  readonly inference: JsonObject
  readonly fields: JsonObject
}

function samplingOf(request: ChatRequest, thinks: boolean, { family, dropped }: Writing): Sampling {
  const { temperature, topP, topK } = request
  const { traits } = family
  const inference: JsonObject = {}
  if (traits?.sampling === false || (traits !== null && thinks)) {
    if (temperature !== undefined) dropped.push('temperature')
    if (topP !== undefined) dropped.push('top_p')
    if (topK !== undefined) dropped.push('top_k')
    return { inference, fields: {} }
  }
  if (temperature !== undefined) {
    inference['temperature'] = clamped(temperature, [0, 1], 'temperature', dropped)
  }
  const either = traits?.samplingBoth === false && temperature !== undefined
  if (topP !== undefined && either) dropped.push('top_p')
  else if (topP !== undefined) inference['topP'] = clamped(topP, [0, 1], 'top_p', dropped)
  return { inference, fields: topK === undefined ? {} : topKOf(topK, family, dropped) }
}

/** Bedrock's tiers have OpenAI's names; `auto` and `default` are its default, and others are dropped. */
function tierOf({ serviceTier: tier }: ChatRequest, dropped: string[]): JsonObject {
  if (tier === 'flex' || tier === 'priority') return { serviceTier: { type: tier } }
  if (tier !== undefined && tier !== 'auto' && tier !== 'default') dropped.push('service_tier')
  return {}
}

/** Caches the whole prompt with a cache point at its end. */
function markPrompt({ cache }: ChatRequest, turns: readonly Turn[], { family, dropped }: Writing) {
  const last = turns.findLast(({ role }) => role === 'user')
  if (cache === undefined || last === undefined) return
  if (family.caches) last.blocks.push(cachePoint(family.cachesTools ? cache : { ttl: '5m' }))
  else dropped.push('cache_control')
}

/** Claude reports the stop text only on request; its path differs between a stream and a whole reply. */
function stopPaths(stop: readonly string[], stream: boolean, { name }: Family): JsonObject {
  if (stop.length === 0 || name !== 'claude') return {}
  const path = stream ? '/delta/stop_sequence' : '/stop_sequence'
  return { additionalModelResponseFieldPaths: [path] }
}

/** Claude refuses stop texts of white space alone. */
function stopsOf({ stop = [] }: ChatRequest, { family, dropped }: Writing): readonly string[] {
  const kept = family.name === 'claude' ? stop.filter((text) => text.trim() !== '') : stop
  if (kept.length < stop.length) dropped.push('stop')
  return kept
}

/** A limit above a known Claude's maximum is lowered to it, for the vendor would refuse it. */
function limitOf({ maxOutputTokens: asked }: ChatRequest, thinks: boolean, writing: Writing) {
  const { traits } = writing.family
  // Bedrock's own default may be lower than the thinking budget.
  if (asked === undefined) return thinks ? traits?.maxOutput : undefined
  if (traits?.known !== true || asked <= traits.maxOutput) return asked
  writing.dropped.push('max_tokens')
  return traits.maxOutput
}

function present(name: string, fields: JsonObject): JsonObject {
  return Object.keys(fields).length === 0 ? {} : { [name]: fields }
}

/** The hub fields that this format can express, beside those every format can. */
const supported = supportedFields('topK', 'reasoning', 'serviceTier', 'cache')

function bucketsOf({ imageBuckets = '' }: Readonly<Record<string, string>>): ReadonlySet<string> {
  return new Set(imageBuckets.split(/[\s,]+/).filter((name) => name !== ''))
}

/** Throws GatewayError naming the field that must not be left out. */
export function encodeRequest(
  request: ChatRequest,
  model: string,
  options: Readonly<Record<string, string>> = {},
): Decoded<JsonObject> {
  refuseUnsupported(request, maxStops)
  const dropped = droppedFields(request, 'bedrock-converse', supported)
  const family = familyOf(model)
  const buckets = bucketsOf(options)
  const writing: Writing = { family, buckets, dropped, documents: new Map() }
  const { system, turns } = encodeConversation(request.messages, writing)
  const tools = encodeTools(request, calledTools(turns), writing)
  markPrompt(request, turns, writing)
  const thought = claudeThought(request, turns, tools.forced, writing)
  const sampling = samplingOf(request, thought.thinks, writing)
  const stop = stopsOf(request, writing)
  const limit = limitOf(request, thought.thinks, writing)
  const inferenceConfig = {
    ...(limit !== undefined && { maxTokens: limit }),
    ...sampling.inference,
    ...(stop.length > 0 && { stopSequences: [...stop] }),
  }
  const additional = {
    ...thought.fields,
    ...(family.name === 'claude' ? {} : otherThought(request, writing)),
    ...sampling.fields,
    ...(tools.claudeChoice !== null && { tool_choice: tools.claudeChoice }),
  }
  const said = [...system, ...tools.steering]
  const value: JsonObject = {
    messages: writeTurns(turns),
    ...(said.length > 0 && { system: said }),
    ...present('inferenceConfig', inferenceConfig),
    ...(tools.toolConfig !== null && { toolConfig: tools.toolConfig }),
    ...present('additionalModelRequestFields', additional),
    ...stopPaths(stop, request.stream, family),
    ...outputConfigOf(request, writing),
    ...tierOf(request, dropped),
  }
  return { value, dropped }
}
