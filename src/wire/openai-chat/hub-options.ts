// Chat request fields beside messages, tools and sampling: reasoning, response format, logprobs, user and the like.

import { supportedFields } from '../hub/dropped-fields.ts'
import type {
  ChatRequest,
  Effort,
  JsonObject,
  JsonValue,
  Reasoning,
  ResponseFormat,
} from '../ir.ts'
import { isObject, stringOf, wholeNumber } from '../json/value.ts'
import { hasFields, present } from './hub-fields.ts'

const efforts: ReadonlySet<string> = new Set([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
])

function effortOf(value: JsonValue | undefined): Effort | null {
  return typeof value === 'string' && efforts.has(value) ? (value as Effort) : null
}

/** Reads OpenRouter's `reasoning`: `{effort | max_tokens, exclude, enabled}`. */
function routed(value: JsonObject): Reasoning {
  const effort = effortOf(value['effort'])
  const budgetTokens = wholeNumber(value['max_tokens'], 0)
  const off = value['enabled'] === false
  const adaptive = value['enabled'] === true && effort === null && budgetTokens === null
  return {
    ...(effort !== null && { effort }),
    ...(off && { effort: 'none' }),
    ...(budgetTokens !== null && { budgetTokens }),
    ...(adaptive && { adaptive }),
    ...(value['exclude'] === true && { show: 'none' }),
  }
}

/** Reads Anthropic's `thinking`, which DeepSeek, Moonshot, Zhipu and others have adopted in this format. */
function switched(value: JsonObject): Reasoning {
  if (value['type'] === 'disabled') return { effort: 'none' }
  const budgetTokens = wholeNumber(value['budget_tokens'], 0)
  return budgetTokens === null ? { adaptive: true } : { budgetTokens }
}

/** Takes `reasoning_effort` out of `rest`; if vendor-specific members accompany it, they all go to `wording`. */
export function takeReasoning(
  rest: JsonObject,
  wording: JsonObject,
): Pick<ChatRequest, 'reasoning'> {
  const { reasoning_effort: effort, reasoning, thinking } = rest
  const plain = effortOf(effort)
  const extended = isObject(reasoning) || isObject(thinking)
  const value: Reasoning = {
    ...(isObject(thinking) && switched(thinking)),
    ...(isObject(reasoning) && routed(reasoning)),
    ...(plain !== null && { effort: plain }),
  }
  const taken = [
    plain !== null ? 'reasoning_effort' : null,
    isObject(reasoning) ? 'reasoning' : null,
    isObject(thinking) ? 'thinking' : null,
  ]
  for (const name of taken) {
    if (name === null) continue
    if (extended) wording[name] = rest[name]
    delete rest[name]
  }
  return hasFields(value as JsonObject) ? { reasoning: value } : {}
}

/** Budgets up to which Anthropic's documentation speaks of little and of medium thinking. */
const lowTokens = 2_048
const mediumTokens = 8_192

/** The effort to send: this format has no budgets, so that a budget becomes the nearest effort. */
export function effortFor({ effort, budgetTokens }: Reasoning): Effort | null {
  if (effort !== undefined) return effort
  if (budgetTokens === undefined) return null
  if (budgetTokens <= lowTokens) return 'low'
  return budgetTokens <= mediumTokens ? 'medium' : 'high'
}

export function takeResponseFormat(
  rest: JsonObject,
  wording: JsonObject,
): Pick<ChatRequest, 'responseFormat'> {
  const raw = rest['response_format']
  const responseFormat = isObject(raw) ? formatOf(raw) : null
  if (responseFormat === null || raw === undefined) return {}
  delete rest['response_format']
  // Keeps the client's spelling where it has vendor-specific members or another order, which the hub cannot hold.
  const same = JSON.stringify(encodeFormat(responseFormat)) === JSON.stringify(raw)
  if (!same) wording['response_format'] = raw
  return { responseFormat }
}

function formatOf(value: JsonObject): ResponseFormat | null {
  const { type, json_schema: described } = value
  if (type === 'text') return { type: 'text' }
  if (type === 'json_object') return { type: 'json' }
  if (type !== 'json_schema' || !isObject(described)) return null
  const { name, schema, description, strict } = present(described)
  if (!isObject(schema)) return null
  return {
    type: 'schema',
    name: stringOf(name) || 'response',
    schema,
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
  }
}

function encodeFormat(format: ResponseFormat): JsonObject {
  if (format.type === 'text') return { type: 'text' }
  if (format.type === 'json') return { type: 'json_object' }
  const { name, schema, description, strict } = format
  const described = {
    name,
    schema,
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
  }
  return { type: 'json_schema', json_schema: described }
}

/** Takes `logprobs` and `top_logprobs`; the latter has no effect alone. */
function takeLogprobs(rest: JsonObject): Pick<ChatRequest, 'logprobs'> {
  const { logprobs, top_logprobs: top } = rest
  if (logprobs === false && top === undefined) delete rest['logprobs']
  if (logprobs !== true) return {}
  delete rest['logprobs']
  delete rest['top_logprobs']
  return { logprobs: wholeNumber(top, 0) ?? 0 }
}

/** Text fields with the same name here and in Responses, and the same meaning in the hub. */
export const sharedTexts = [
  ['service_tier', 'serviceTier'],
  ['prompt_cache_key', 'promptCacheKey'],
  ['prompt_cache_retention', 'promptCacheRetention'],
  ['safety_identifier', 'safetyIdentifier'],
] as const
/** The same for objects, whose members are the same too. */
export const sharedObjects = [['prompt_cache_options', 'promptCacheOptions']] as const
export const sharedFields = [...sharedTexts, ...sharedObjects].map(([, field]) => field)

/** Takes the objects of `sharedObjects` out of `rest`. */
export function takeObjects(
  rest: JsonObject,
): Pick<ChatRequest, (typeof sharedObjects)[number][1]> {
  const found: { -readonly [Field in (typeof sharedObjects)[number][1]]?: JsonObject } = {}
  for (const [name, field] of sharedObjects) {
    const value = rest[name]
    if (!isObject(value)) continue
    found[field] = value
    delete rest[name]
  }
  return found
}
const texts = [['verbosity', 'verbosity'], ...sharedTexts] as const

type Options = Pick<
  ChatRequest,
  | (typeof texts)[number][1]
  | (typeof sharedObjects)[number][1]
  | 'logprobs'
  | 'metadata'
  | 'modalities'
  | 'topK'
  | 'cache'
>

/** Takes the remaining options out of `rest`. */
export function takeOptions(rest: JsonObject, wording: JsonObject): Options {
  const found: { -readonly [Field in keyof Options]: Options[Field] } = {
    ...takeLogprobs(rest),
    ...takeObjects(rest),
  }
  for (const [name, field] of texts) {
    const value = rest[name]
    if (typeof value !== 'string') continue
    found[field] = value
    delete rest[name]
  }
  const { metadata, modalities, cache_control: control } = rest
  if (isObject(metadata)) {
    found.metadata = metadata
    wording['metadata'] = metadata
    delete rest['metadata']
  }
  if (Array.isArray(modalities) && modalities.every((name) => typeof name === 'string')) {
    found.modalities = modalities
    delete rest['modalities']
  }
  if (isObject(control)) {
    found.cache = { ttl: control['ttl'] === '1h' ? '1h' : '5m' }
    wording['cache_control'] = control
    delete rest['cache_control']
  }
  return found
}

/**
 * Hub fields that this format expresses, or refuses by name. The rest goes out only as the client itself worded it in
 * this format: OpenAI takes metadata only for stored replies, and has neither top_k nor cache marks.
 */
export const supported = supportedFields(
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'logitBias',
  'user',
  'reasoning',
  'logprobs',
  'verbosity',
  ...sharedFields,
)

/** Writes the options; the caller then overwrites them with the client's own wording where there is one. */
export function encodeOptions(request: ChatRequest): JsonObject {
  const { reasoning, responseFormat, logprobs, modalities } = request
  const body: JsonObject = {}
  const effort = reasoning === undefined ? null : effortFor(reasoning)
  if (effort !== null) body['reasoning_effort'] = effort
  if (responseFormat !== undefined) body['response_format'] = encodeFormat(responseFormat)
  if (logprobs !== undefined) {
    body['logprobs'] = true
    body['top_logprobs'] = logprobs
  }
  for (const [name, field] of [...texts, ...sharedObjects]) {
    if (request[field] !== undefined) body[name] = request[field]
  }
  if (modalities !== undefined) body['modalities'] = [...modalities]
  return body
}
