// Cohere's count of tokens as the hub's disjoint kinds.

import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject } from '../openai/usage.ts'

function count(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && value >= 0 && value <= 1e9 ? Math.floor(value) : null
}

function sides(value: JsonValue | undefined): { input: number; output: number } | null {
  if (!isObject(value)) return null
  const input = count(value['input_tokens'])
  const output = count(value['output_tokens'])
  if ((input ?? 0) + (output ?? 0) === 0) return null
  return { input: input ?? 0, output: output ?? 0 }
}

/**
 * `tokens` counts all that the model read and wrote, its own instructions too, and holds `cached_tokens`; `billed_units`
 * leaves the instructions out and is the count where there is no other. Null where nothing was counted.
 */
export function readUsage(usage: JsonObject): Usage | null {
  const all = sides(usage['tokens'])
  const found = all ?? sides(usage['billed_units'])
  if (found === null) return null
  const cached = all === null ? 0 : Math.min(count(usage['cached_tokens']) ?? 0, found.input)
  return {
    input: found.input - cached,
    cachedInput: cached,
    cacheWrite: 0,
    output: found.output,
    reasoning: 0,
  }
}
