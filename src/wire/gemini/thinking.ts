// Writes how much a model should think as `thinkingConfig`: a level since Gemini 3, before that a token budget.

import type { Effort, JsonObject, Reasoning } from '../ir.ts'
import type { Encoding, ModelTraits } from './models.ts'

/** Tokens per effort (ai.google.dev, "OpenAI compatibility", and the limits of each model). */
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

/** The level of the effort, or the next higher one that the model knows. */
function levelOf(effort: Effort, known: readonly string[]): string {
  const order = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']
  const from = order.indexOf(levels[effort])
  return order.slice(from).find((level) => known.includes(level)) ?? 'HIGH'
}

function clamped(tokens: number, { budget }: ModelTraits): number {
  return Math.max(budget.least, Math.min(budget.most, tokens))
}

/** Whether to return thoughts: by default if the client asked for thinking. */
function shows({ show, effort, budgetTokens, adaptive }: Reasoning): boolean {
  if (show !== undefined) return show !== 'none'
  if (effort === 'none') return false
  return effort !== undefined || budgetTokens !== undefined || adaptive === true
}

/** Whether the model thinks as little as it can; some models cannot switch thinking off. */
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
