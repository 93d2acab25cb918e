// What each Claude model accepts and refuses, as data: keyed by parts of model names, the first match wins.

import type { JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'

/** Limits that a request to a model must respect. */
export interface ModelTraits {
  /** The most output tokens; also the default of `max_tokens`, which the format requires. */
  readonly maxOutput: number
  /** Whether the model is listed here; the traits of any other are assumed. */
  readonly known: boolean
  /** Accepts `thinking: {type: adaptive}` with an effort. */
  readonly adaptive: boolean
  /** Accepts `thinking: {type: enabled, budget_tokens}`. */
  readonly budget: boolean
  /** Accepts `thinking: {type: disabled}`. */
  readonly canDisable: boolean
  /** Accepts `thinking: {type: between_tools}`. */
  readonly betweenTools: boolean
  /** Accepts `output_config.effort`. */
  readonly effort: boolean
  /** Accepts effort `xhigh`. */
  readonly xhigh: boolean
  /** Accepts temperature, top_p and top_k. */
  readonly sampling: boolean
  /** Accepts temperature and top_p in one request. */
  readonly samplingBoth: boolean
  /** Accepts `tool_choice` of type any or tool. */
  readonly forcedTool: boolean
  /** Accepts `output_config.format` and strict tools. */
  readonly structured: boolean
}

const older: ModelTraits = {
  maxOutput: 4_096,
  known: true,
  adaptive: false,
  budget: false,
  canDisable: false,
  betweenTools: false,
  effort: false,
  xhigh: false,
  sampling: true,
  samplingBoth: true,
  forcedTool: true,
  structured: false,
}
const budgeted: ModelTraits = { ...older, maxOutput: 64_000, budget: true, canDisable: true }
const generation45: ModelTraits = { ...budgeted, samplingBoth: false, structured: true }
const generation46: ModelTraits = {
  ...generation45,
  maxOutput: 128_000,
  adaptive: true,
  effort: true,
}
/** From 4.7 on a budget is answered with 400 (Anthropic, "Troubleshooting thinking"). */
const newest: ModelTraits = { ...generation46, budget: false, sampling: false, xhigh: true }
const always: ModelTraits = { ...newest, canDisable: false }

/**
 * Sources: Anthropic's "Models overview", "Adaptive thinking", "Effort" and "Structured outputs", and the capability
 * table of @ai-sdk/anthropic. Order matters: a name must come after the longer ones that begin with it.
 */
const table: readonly (readonly [part: string, traits: ModelTraits])[] = [
  ['claude-sonnet-5-5', { ...always, forcedTool: false, betweenTools: true }],
  ['claude-opus-5-5', { ...always, forcedTool: false }],
  ['claude-haiku-5-5', newest],
  ['claude-fable-5-2', { ...always, forcedTool: false }],
  ['claude-fable-5-1', { ...always, forcedTool: false }],
  ['claude-fable-5', always],
  ['claude-opus-5', newest],
  ['claude-sonnet-5', newest],
  ['claude-opus-4-8', newest],
  ['claude-opus-4-7', newest],
  ['claude-opus-4-6', generation46],
  ['claude-sonnet-4-6', generation46],
  ['claude-opus-4-5', { ...generation45, effort: true }],
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

/** Models of other makers that are served in Anthropic's format. */
const foreign: ModelTraits = { ...budgeted, maxOutput: 8_192, known: false }

/** `model` is the vendor's name; hosts prefix a maker and use dots. An unlisted Claude is assumed to be a new one. */
export function traitsOf(model: string): ModelTraits {
  const name = model.toLowerCase().replaceAll('.', '-')
  const found = table.find(([part]) => name.includes(part))
  if (found !== undefined) return found[1]
  return name.includes('claude') ? { ...newest, known: false } : foreign
}

/** The least top_p that is accepted beside thinking. */
const leastThinkingTopP = 0.95

/**
 * Names of the sampling members that the model refuses in this request. Thinking allows no temperature but 1, no
 * top_k, and a top_p of at least 0.95 ("Extended thinking", compatibility). `value` looks up a member of the request.
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
