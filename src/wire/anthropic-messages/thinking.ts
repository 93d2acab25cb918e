// Writes how much a model should think, in the form its model generation accepts.

import type { ChatRequest, Effort, JsonObject, Reasoning } from '../ir.ts'
import type { ModelTraits } from './models.ts'

export interface Thinking {
  /** The request's `thinking` member. */
  readonly field: JsonObject | null
  /** The value of `output_config.effort`. */
  readonly effort: string | null
}

interface ThinkingBounds {
  readonly traits: ModelTraits
  readonly maxTokens: number
  /** The tool choice requires a call. */
  readonly forced: boolean
  /** The turn with pending calls still begins with its thinking block. */
  readonly keepsThoughts: boolean
}

/** The smallest budget that the format accepts. */
const leastBudget = 1_024

const budgets: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 4_096,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
}

const none: Thinking = { field: null, effort: null }

/** `dropped` gets `reasoning_effort` where the model will not think as asked. */
export function thinkingOf(
  { reasoning }: ChatRequest,
  bounds: ThinkingBounds,
  dropped: string[],
): Thinking {
  const { traits, forced } = bounds
  if (forced) {
    // A model that thinks by default must be told not to, for thinking and a forced call exclude each other.
    if (reasoning !== undefined && reasoning.effort !== 'none') dropped.push('reasoning_effort')
    return traits.adaptive && traits.canDisable ? disabled : none
  }
  if (reasoning === undefined || !asks(reasoning)) return none
  if (reasoning.effort === 'none') return leastThinking(traits, dropped)
  if (traits.adaptive && !(traits.budget && reasoning.budgetTokens !== undefined)) {
    return adaptive(reasoning, traits, dropped)
  }
  if (traits.budget) return budgeted(reasoning, bounds, dropped)
  dropped.push('reasoning_effort')
  return none
}

const disabled: Thinking = { field: { type: 'disabled' }, effort: null }

function asks({ effort, budgetTokens, adaptive: byItself, show }: Reasoning): boolean {
  return [effort, budgetTokens, byItself, show].some((each) => each !== undefined)
}

function leastThinking(traits: ModelTraits, dropped: string[]): Thinking {
  if (traits.canDisable) return disabled
  if (!traits.adaptive) return none
  dropped.push('reasoning_effort')
  if (traits.betweenTools) return { field: { type: 'between_tools' }, effort: null }
  return { field: null, effort: 'low' }
}

function displayOf({ show }: Reasoning): JsonObject {
  if (show === undefined) return {}
  return { display: show === 'none' ? 'omitted' : 'summarized' }
}

function adaptive(reasoning: Reasoning, traits: ModelTraits, dropped: string[]): Thinking {
  const asked = reasoning.effort ?? effortFor(reasoning.budgetTokens)
  if (asked === 'minimal' && traits.betweenTools) {
    return { field: { type: 'between_tools' }, effort: null }
  }
  const refused = asked === 'xhigh' && !traits.xhigh
  if (refused) dropped.push('reasoning_effort')
  const effort = asked === 'minimal' ? 'low' : refused ? 'high' : asked
  // Newer models show no thinking unless asked to, and clients of other formats have no field for that.
  const display = reasoning.show === undefined ? { display: 'summarized' } : displayOf(reasoning)
  return { field: { type: 'adaptive', ...display }, effort: effort ?? null }
}

/** The lowest effort whose budget covers this one, `high` at most. */
function effortFor(budget: number | undefined): Effort | undefined {
  if (budget === undefined) return undefined
  if (budget <= budgets.low) return 'low'
  if (budget <= budgets.medium) return 'medium'
  return 'high'
}

/** Thinking with a token budget, which must be smaller than `max_tokens`. */
function budgeted(reasoning: Reasoning, bounds: ThinkingBounds, dropped: string[]): Thinking {
  const { maxTokens, keepsThoughts } = bounds
  const { effort = 'medium', budgetTokens } = reasoning
  const asked = budgetTokens ?? (effort === 'none' ? 0 : budgets[effort])
  const budget = Math.min(Math.max(asked, leastBudget), maxTokens - 1)
  if (budget < leastBudget || !keepsThoughts) {
    dropped.push('reasoning_effort')
    return none
  }
  const display = displayOf(reasoning)
  return { field: { type: 'enabled', budget_tokens: budget, ...display }, effort: null }
}
