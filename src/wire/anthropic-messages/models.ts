// What Claude models take and refuse, as data: by parts of their names, the first that fits.

import type { JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'

/** What a request to a model must keep to. */
export interface ModelTraits {
  /** Tokens a reply may have; the default of `max_tokens`, which the format demands. */
  readonly maxOutput: number
  /** The model is listed here; of any other the traits are assumed. */
  readonly known: boolean
  /** `thinking: {type: adaptive}` with an effort. */
  readonly adaptive: boolean
  /** `thinking: {type: enabled, budget_tokens}`. */
  readonly budget: boolean
  /** `thinking: {type: disabled}`. */
  readonly canDisable: boolean
  /** `thinking: {type: between_tools}`. */
  readonly betweenTools: boolean
  /** Effort `xhigh`. */
  readonly xhigh: boolean
  /** temperature, top_p, top_k. */
  readonly sampling: boolean
  /** temperature and top_p in one request. */
  readonly samplingBoth: boolean
  /** `tool_choice` of type any or tool. */
  readonly forcedTool: boolean
  /** `output_config.format` and strict tools. */
  readonly structured: boolean
}

const older: ModelTraits = {
  maxOutput: 4_096,
  known: true,
  adaptive: false,
  budget: false,
  canDisable: false,
  betweenTools: false,
  xhigh: false,
  sampling: true,
  samplingBoth: true,
  forcedTool: true,
  structured: false,
}
const budgeted: ModelTraits = { ...older, maxOutput: 64_000, budget: true, canDisable: true }
const generation45: ModelTraits = { ...budgeted, samplingBoth: false, structured: true }
const generation46: ModelTraits = { ...generation45, maxOutput: 128_000, adaptive: true }
const newest: ModelTraits = { ...generation46, sampling: false, xhigh: true }
const always: ModelTraits = { ...newest, canDisable: false, budget: false }

/**
 * Sources: Anthropic's "Models overview", "Adaptive thinking", "Effort" and "Structured outputs", and the capability
 * table of @ai-sdk/anthropic. Order matters: a shorter name stands behind the longer ones it begins.
 */
const table: readonly (readonly [part: string, traits: ModelTraits])[] = [
  ['claude-sonnet-5-5', { ...always, forcedTool: false, betweenTools: true }],
  ['claude-opus-5-5', { ...always, forcedTool: false }],
  ['claude-haiku-5-5', { ...newest, budget: false }],
  ['claude-fable-5-2', { ...always, forcedTool: false }],
  ['claude-fable-5-1', { ...always, forcedTool: false }],
  ['claude-fable-5', always],
  ['claude-opus-5', newest],
  ['claude-sonnet-5', newest],
  ['claude-opus-4-8', newest],
  ['claude-opus-4-7', newest],
  ['claude-opus-4-6', generation46],
  ['claude-sonnet-4-6', generation46],
  ['claude-opus-4-5', generation45],
  ['claude-sonnet-4-5', generation45],
  ['claude-haiku-4-5', generation45],
  ['claude-opus-4-1', { ...generation45, maxOutput: 32_000 }],
  ['claude-opus-4', { ...budgeted, maxOutput: 32_000 }],
  ['claude-sonnet-4', budgeted],
  ['claude-3-7-sonnet', budgeted],
  ['claude-3-5', { ...older, maxOutput: 8_192 }],
  ['claude-3', older],
  ['claude-2', older],
  ['claude-instant', older],
]

/** Another maker's model behind Anthropic's format. */
const foreign: ModelTraits = { ...budgeted, maxOutput: 8_192, known: false }

/** `model` is the vendor's own name; hosts put a maker before it and dots into it. An unknown Claude is a new one. */
export function traitsOf(model: string): ModelTraits {
  const name = model.toLowerCase().replaceAll('.', '-')
  const found = table.find(([part]) => name.includes(part))
  if (found !== undefined) return found[1]
  return name.includes('claude') ? { ...newest, known: false } : foreign
}

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
