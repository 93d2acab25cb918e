// Converts Bedrock's token counts to the hub's disjoint kinds ("TokenUsage", Bedrock Runtime API reference).

import { believed, countOf } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject } from '../json/value.ts'

function first(...values: (JsonValue | undefined)[]): number | null {
  for (const value of values) {
    const found = countOf(value)
    if (found !== null) return found
  }
  return null
}

function count(...values: (JsonValue | undefined)[]): number {
  return first(...values) ?? 0
}

/** The part of the tokens written to the cache that is kept for an hour. */
function hourly(details: JsonValue | undefined, written: number): number {
  if (!Array.isArray(details)) return 0
  let total = 0
  for (const each of details) {
    if (isObject(each) && each['ttl'] === '1h') total += count(each['inputTokens'])
  }
  return Math.min(total, written)
}

/** `inputTokens` excludes tokens read from the cache and written to it. Null where nothing was counted. */
export function readUsage(usage: JsonObject): Usage | null {
  return believed(usage, read)
}

function read(usage: JsonObject): Usage | null {
  const asked = first(usage['inputTokens'])
  const input = asked ?? 0
  const output = count(usage['outputTokens'])
  const cachedInput = count(usage['cacheReadInputTokens'], usage['cacheReadInputTokenCount'])
  const written = count(usage['cacheWriteInputTokens'], usage['cacheWriteInputTokenCount'])
  // Without a prompt's count it is not known to be empty.
  if (asked === null && cachedInput + written === 0) return null
  if (input + output + cachedInput + written === 0) return null
  const cacheWrite1h = hourly(usage['cacheDetails'], written)
  return {
    input,
    cachedInput,
    cacheWrite: written - cacheWrite1h,
    output,
    reasoning: 0,
    ...(cacheWrite1h > 0 && { cacheWrite1h }),
  }
}
