// Converts vendors' token counts to the form of OpenAI's clients.

import type { JsonObject } from '../wire/ir.ts'
import { isObject, objectOf, wholeNumber } from '../wire/json/value.ts'

export function count(value: JsonObject[string]): number {
  return wholeNumber(value, 0) ?? 0
}

/** A member of a details object; 0 where it is absent. */
export function detail(usage: JsonObject, details: string, name: string): number {
  const value = usage[details]
  return isObject(value) ? count(value[name]) : 0
}

/** The usage with its cached prompt tokens in OpenAI's member, unless that is already set. */
export function withCached(usage: JsonObject, cached: number): JsonObject {
  const details = usage.prompt_tokens_details
  const present = objectOf(details)
  if (cached === 0 || present.cached_tokens !== undefined) return usage
  return { ...usage, prompt_tokens_details: { ...present, cached_tokens: cached } }
}

/** Adds audio tokens that are only in the total, where seconds of audio are reported too (Mistral, "Audio"). */
export function withSound(usage: JsonObject): JsonObject {
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details } = usage
  const text = count(prompt_tokens)
  const sound = count(total_tokens) - text - count(completion_tokens)
  if (sound <= 0 || count(usage.prompt_audio_seconds) === 0) return usage
  const details = objectOf(prompt_tokens_details)
  return {
    ...usage,
    prompt_tokens: text + sound,
    prompt_tokens_details: { audio_tokens: sound, ...details },
  }
}

/** Reads cached prompt tokens at the top level of usage, where some vendors report them. */
export function topLevelCached(usage: JsonObject): JsonObject {
  return withCached(usage, count(usage.cached_tokens))
}
