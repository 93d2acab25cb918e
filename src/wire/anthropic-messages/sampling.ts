// Which of a request's sampling parameters a Claude model refuses.

import type { JsonValue } from '../ir.ts'
import { isObject } from '../openai/usage.ts'
import type { ModelTraits } from './models.ts'

/** Below it a top_p is refused beside thinking. */
const leastThinkingTopP = 0.95

/**
 * Thinking allows no temperature but 1, no top_k, and a top_p of 0.95 at least ("Extended thinking", compatibility).
 * `value` gives a member of the request; what comes back are names of members.
 */
export function refusedSampling(
  { sampling, samplingBoth }: ModelTraits,
  value: (name: string) => JsonValue | undefined,
): readonly string[] {
  if (!sampling) return ['temperature', 'top_p', 'top_k']
  const thinking = value('thinking')
  const topP = value('top_p')
  if (isObject(thinking) && thinking['type'] !== 'disabled') {
    const allowed = typeof topP === 'number' && topP >= leastThinkingTopP
    return allowed ? ['temperature', 'top_k'] : ['temperature', 'top_p', 'top_k']
  }
  return value('temperature') !== undefined && !samplingBoth ? ['top_p'] : []
}
