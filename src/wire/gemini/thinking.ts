// How much a model is to think, as `thinkingConfig`: a level since Gemini 3, a budget of tokens before.

import type { Effort, JsonObject, Reasoning } from '../ir.ts'
import type { Encoding, ModelTraits } from './models.ts'

/** Tokens for an effort (ai.google.dev, "OpenAI compatibility", and the bounds of each model). */
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 32_768,
}

const levels: Readonly<Record<Effort, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/** The word itself, or the next above it that the model knows. */
function levelOf(effort: Effort, known: readonly string[]): string {
  const order = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']
  const from = order.indexOf(levels[effort])
  return order.slice(from).find((level) => known.includes(level)) ?? 'HIGH'
}

function clamped(tokens: number, { budget }: ModelTraits): number {
  return Math.max(budget.least, Math.min(budget.most, tokens))
}

/** Who asks for effort gets to see the thoughts, unless it says otherwise. */
function shows({ show, effort, budgetTokens, adaptive }: Reasoning): boolean {
  if (show !== undefined) return show !== 'none'
  if (effort === 'none') return false
  return effort !== undefined || budgetTokens !== undefined || adaptive === true
}

/** Some models cannot be kept from thinking. */
function isQuiet({ thinkingBudget, thinkingLevel }: JsonObject): boolean {
  return thinkingBudget === 0 || thinkingLevel === 'MINIMAL'
}

export function thinkingOf(
  reasoning: Reasoning | undefined,
  { traits, dropped }: Encoding,
): JsonObject | null {
  if (reasoning === undefined) return null
  const { effort, budgetTokens, adaptive, show } = reasoning
  if (traits.thinks === null) {
    if (effort !== undefined && effort !== 'none') dropped.push('reasoning_effort')
    if (budgetTokens !== undefined || adaptive === true) dropped.push('thinking')
    return null
  }
  const config: JsonObject = {}
  if (budgetTokens !== undefined) config['thinkingBudget'] = clamped(budgetTokens, traits)
  else if (effort !== undefined) {
    if (traits.thinks === 'level') config['thinkingLevel'] = levelOf(effort, traits.levels)
    else config['thinkingBudget'] = clamped(budgets[effort], traits)
  } else if (adaptive === true && traits.thinks === 'budget') config['thinkingBudget'] = -1
  if (effort === 'none' && !isQuiet(config)) dropped.push('reasoning_effort')
  if (shows(reasoning)) config['includeThoughts'] = true
  else if (show === 'none') config['includeThoughts'] = false
  return Object.keys(config).length === 0 ? null : config
}
