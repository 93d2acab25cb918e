// The reply to a request that asks what it would cost.

import type { CostEstimate } from '../billing/authorize.ts'
import { formatUnits } from '../money.ts'
import type { Reply } from '../operations/operation.ts'

/** Costs are decimal texts of the currency, as `usage.cost` is. */
export function estimateReply(
  model: string,
  { currency, rate, inputTokens, minNano, maxOutputTokens, maxNano }: CostEstimate,
): Reply {
  const estimate = {
    object: 'cost_estimate',
    model,
    currency,
    input_tokens: inputTokens,
    min_cost: formatUnits(minNano),
    max_output_tokens: maxOutputTokens,
    max_cost: formatUnits(maxNano),
    price_version: rate.version,
  }
  return { body: JSON.stringify(estimate) }
}
