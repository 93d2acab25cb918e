// Reads the `usage` object of OpenAI-style replies, in the spellings vendors use, into disjoint token kinds.

import type { JsonObject, JsonValue, Usage } from '../ir.ts'

/** No reply has more tokens than this; a larger count is not believed. */
const MAX_TOKENS = 1e9

/** A count as an integer of at least 0, or null where the value is none. */
function count(value: JsonValue | undefined): number | null {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !(number >= 0) || number > MAX_TOKENS) return null
  return Math.floor(number)
}

function first(...values: (JsonValue | undefined)[]): number | null {
  for (const value of values) {
    const found = count(value)
    if (found !== null) return found
  }
  return null
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function objectIn(parent: JsonObject, ...names: string[]): JsonObject {
  for (const name of names) {
    const value = parent[name]
    if (isObject(value)) return value
  }
  return {}
}

/** Tokens read from the cache, as OpenAI, Mistral, DeepSeek, Moonshot and Anthropic-like vendors spell it. */
function cachedTokens(usage: JsonObject, details: JsonObject): number {
  return (
    first(
      details.cached_tokens,
      usage.prompt_cache_hit_tokens,
      usage.cached_tokens,
      usage.num_cached_tokens,
      usage.cache_read_input_tokens,
    ) ?? 0
  )
}

/** Tokens written to the cache, as OpenAI, DashScope and Anthropic-like vendors spell it. */
function writtenTokens(usage: JsonObject, details: JsonObject): number {
  const split = objectIn(details, 'cache_creation')
  const parts =
    (count(split.ephemeral_5m_input_tokens) ?? 0) + (count(split.ephemeral_1h_input_tokens) ?? 0)
  return (
    first(
      details.cache_write_tokens,
      details.cache_creation_input_tokens,
      details.cache_creation_tokens,
      usage.cache_creation_input_tokens,
    ) ?? parts
  )
}

interface Totals {
  readonly prompt: number
  readonly completion: number
  readonly total: number | null
}

/** Both sides of the bill; a missing side is what the total leaves. Null where nothing was counted. */
function totalsOf(usage: JsonObject): Totals | null {
  const total = count(usage.total_tokens)
  const prompt = first(usage.prompt_tokens, usage.input_tokens)
  const completion = first(usage.completion_tokens, usage.output_tokens)
  if (prompt === null && completion === null) return null
  const sides = {
    prompt: prompt ?? Math.max(0, (total ?? 0) - (completion ?? 0)),
    completion: completion ?? Math.max(0, (total ?? 0) - (prompt ?? 0)),
    total,
  }
  return sides.prompt + sides.completion === 0 ? null : sides
}

/**
 * Disjoint counts, each an integer of at least 0; null where the vendor reported nothing that can be
 * believed (absent, zeros, not numbers, beyond 1e9), so that the caller counts for itself.
 * Contradictions: cached beyond the prompt means that the prompt excludes the cache; reasoning beyond
 * the completion, or a total that holds it besides, means that the completion excludes reasoning (xAI).
 */
export function readUsage(value: JsonValue | undefined): Usage | null {
  if (!isObject(value)) return null
  const totals = totalsOf(value)
  if (totals === null) return null
  const { prompt, completion, total } = totals
  const inputDetails = objectIn(
    value,
    'prompt_tokens_details',
    'prompt_token_details',
    'input_tokens_details',
  )
  const outputDetails = objectIn(value, 'completion_tokens_details', 'output_tokens_details')

  const cachedInput = cachedTokens(value, inputDetails)
  const excludesCache = cachedInput > prompt
  let input = excludesCache ? prompt : prompt - cachedInput
  const take = (wanted: JsonValue | undefined): number => {
    const taken = Math.min(input, count(wanted) ?? 0)
    input -= taken
    return taken
  }
  const cacheWrite = take(writtenTokens(value, inputDetails))
  const audioInput = take(inputDetails.audio_tokens)
  const imageInput = take(inputDetails.image_tokens)

  const reasoning = first(outputDetails.reasoning_tokens, value.reasoning_tokens) ?? 0
  const excludesReasoning = reasoning > completion || total === prompt + completion + reasoning
  let output = excludesReasoning ? completion : completion - reasoning
  const audioOutput = Math.min(output, count(outputDetails.audio_tokens) ?? 0)
  output -= audioOutput

  return {
    input,
    cachedInput,
    cacheWrite,
    output,
    reasoning,
    ...(audioInput > 0 && { audioInput }),
    ...(audioOutput > 0 && { audioOutput }),
    ...(imageInput > 0 && { imageInput }),
  }
}

/** Disjoint counts as OpenAI's `usage`, where prompt and completion are sums. */
export function writeUsage(usage: Usage): JsonObject {
  const audioInput = usage.audioInput ?? 0
  const audioOutput = usage.audioOutput ?? 0
  const prompt =
    usage.input + usage.cachedInput + usage.cacheWrite + audioInput + (usage.imageInput ?? 0)
  const completion = usage.output + usage.reasoning + audioOutput
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInput,
      audio_tokens: audioInput,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
      ...(usage.imageInput !== undefined && { image_tokens: usage.imageInput }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning, audio_tokens: audioOutput },
  }
}

const required = ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const

/**
 * The usage to show the client: the vendor's own where its three sums are counts, else one written
 * from what could be read; null where nothing could.
 */
export function shownUsage(raw: JsonObject): JsonObject | null {
  if (required.every((name) => typeof raw[name] === 'number' && count(raw[name]) === raw[name])) {
    return raw
  }
  const usage = readUsage(raw)
  return usage === null ? null : writeUsage(usage)
}

/** The usage object of a parsed reply or frame: at the top level, else where `path` says. */
export function usageIn(reply: JsonObject, path?: readonly string[]): JsonObject | null {
  if (isObject(reply.usage)) return reply.usage
  if (path === undefined) return null
  let value: JsonValue | undefined = reply
  for (const name of path) {
    value = Array.isArray(value) ? value[Number(name)] : isObject(value) ? value[name] : undefined
  }
  return isObject(value) ? value : null
}
