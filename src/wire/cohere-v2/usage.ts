// Converts Cohere's token counts to the hub's disjoint kinds.

import { believed, countOf as count } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject } from '../json/value.ts'

function sides(value: JsonValue | undefined): { input: number; output: number } | null {
  if (!isObject(value)) return null
  const input = count(value['input_tokens'])
  const output = count(value['output_tokens'])
  // Without a prompt's count it is not known to be empty.
  if (input === null || input + (output ?? 0) === 0) return null
  return { input, output: output ?? 0 }
}

/**
 * `billed_units` is what Cohere's invoice counts: the prompt without instructions that Cohere adds. `tokens`,
 * everything that the model read and wrote, is used only where the former is missing; `cached_tokens` is part of it.
 * Null where nothing was counted.
 */
export function readUsage(usage: JsonObject): Usage | null {
  return believed(usage, read)
}

function read(usage: JsonObject): Usage | null {
  const billed = sides(usage['billed_units'])
  const found = billed ?? sides(usage['tokens'])
  if (found === null) return null
  const cached = billed === null ? Math.min(count(usage['cached_tokens']) ?? 0, found.input) : 0
  return {
    input: found.input - cached,
    cachedInput: cached,
    cacheWrite: 0,
    output: found.output,
    reasoning: 0,
  }
}
