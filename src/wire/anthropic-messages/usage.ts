// Anthropic's counts of tokens, into disjoint kinds and back.

import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { objectOf, objectsOf } from './fields.ts'

/** No reply has more tokens than this; a larger count is not believed. */
const maxTokens = 1e9

function count(value: JsonValue | undefined): number {
  if (typeof value !== 'number' || !(value >= 0) || value > maxTokens) return 0
  return Math.floor(value)
}

/**
 * The counts of a later event laid over those before it: they are totals of the whole message, never increments, and a
 * later event may leave some out ("Streaming messages", message_delta).
 */
export function mergeUsage(before: JsonObject, later: JsonObject): JsonObject {
  const merged = { ...before }
  for (const name in later) if (later[name] != null) merged[name] = later[name]
  return merged
}

/**
 * What the message's own counts leave out: the tokens of a compaction, which are billed as the model's own ("Compaction",
 * usage). An advisor's are billed at another model's rate and stay out.
 */
function compacted(raw: JsonObject): { input: number; output: number } {
  const sum = { input: 0, output: 0 }
  for (const iteration of objectsOf(raw.iterations)) {
    if (iteration.type !== 'compaction') continue
    sum.input += count(iteration.input_tokens)
    sum.output += count(iteration.output_tokens)
  }
  return sum
}

/**
 * Disjoint counts, each an integer of at least 0; null where nothing was counted, so that the caller counts for itself.
 * `input_tokens` holds neither what was read from the cache nor what was written to it, `output_tokens` holds the
 * thinking.
 */
export function readUsage(value: JsonValue | undefined): Usage | null {
  const raw = objectOf(value)
  const more = compacted(raw)
  const split = objectOf(raw.cache_creation)
  const hour = count(split.ephemeral_1h_input_tokens)
  const minutes = count(split.ephemeral_5m_input_tokens)
  const written = Math.max(count(raw.cache_creation_input_tokens), 0) || hour + minutes
  const cacheWrite1h = Math.min(hour, written)
  const output = count(raw.output_tokens) + more.output
  const reasoning = Math.min(output, count(objectOf(raw.output_tokens_details).thinking_tokens))
  const usage: Usage = {
    input: count(raw.input_tokens) + more.input,
    cachedInput: count(raw.cache_read_input_tokens),
    cacheWrite: written - cacheWrite1h,
    output: output - reasoning,
    reasoning,
    ...(cacheWrite1h > 0 && { cacheWrite1h }),
  }
  const nothing = usage.input + usage.cachedInput + written + output === 0
  return nothing ? null : usage
}

/**
 * The counts as Anthropic puts them, each of its fields present: clients read them without looking. `beside` is what the
 * vendor said with them, where it is one of this format; what stands there is not counted twice.
 */
export function writeUsage(usage: Usage, beside: JsonObject): JsonObject {
  const { cacheWrite, cacheWrite1h = 0, reasoning } = usage
  const { audioInput = 0, imageInput = 0, audioOutput = 0, imageOutput = 0 } = usage
  const more = compacted(beside)
  const counts = {
    input_tokens: usage.input + audioInput + imageInput - more.input,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: usage.cachedInput,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite,
      ephemeral_1h_input_tokens: cacheWrite1h,
    },
    output_tokens: usage.output + reasoning + audioOutput + imageOutput - more.output,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
  }
  return mergeUsage(counts, beside)
}

export const noUsage: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }
