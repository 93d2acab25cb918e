// Corrections to a vendor's count of tokens, into the shape OpenAI's clients know.

import type { JsonObject } from '../wire/ir.ts'
import { isObject, wholeNumber } from './json.ts'

export function count(value: JsonObject[string]): number {
  return wholeNumber(value, 0) ?? 0
}

/** A member of a details object, 0 where it is absent. */
export function detail(usage: JsonObject, details: string, name: string): number {
  const value = usage[details]
  return isObject(value) ? count(value[name]) : 0
}

/** The usage with its cached prompt tokens where OpenAI has them, unless they stand there already. */
export function withCached(usage: JsonObject, cached: number): JsonObject {
  const details = usage.prompt_tokens_details
  const present = isObject(details) ? details : {}
  if (cached === 0 || present.cached_tokens !== undefined) return usage
  return { ...usage, prompt_tokens_details: { ...present, cached_tokens: cached } }
}

/** Cached prompt tokens counted at the top of usage, as some vendors do. */
export function topLevelCached(usage: JsonObject): JsonObject {
  return withCached(usage, count(usage.cached_tokens))
}
