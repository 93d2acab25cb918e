// Gives a client's own thinking and effort the form that the model takes: clients write what the model they name takes,
// and a channel may ask another under that name.

import type { JsonObject, JsonValue, Reasoning } from '../ir.ts'
import { isObject, objectOf, objectsIn, stringOf, wholeNumber } from '../json/value.ts'
import type { ModelTraits } from './models.ts'
import { thinkingOf } from './thinking.ts'

/** The members to send in place of the client's; absent: it stays; null: it is left out. */
interface Fitted {
  readonly thinking?: JsonObject | null
  readonly output_config?: JsonObject | null
}

/** `value` looks up a member of the request. */
export function fittedThinking(
  traits: ModelTraits,
  value: (name: string) => JsonValue | undefined,
): Fitted {
  const thinking = value('thinking')
  const config = value('output_config')
  const { effort, ...others } = objectOf(config)
  const sent = effort === undefined ? undefined : takenEffort(traits, effort)
  const left = sent === null ? others : { ...others, effort: sent }
  return {
    ...(isObject(thinking) &&
      !takes(traits, thinking) && { thinking: rewritten(traits, thinking, effort, value) }),
    ...(sent !== effort && { output_config: Object.keys(left).length === 0 ? null : left }),
  }
}

function takes(traits: ModelTraits, { type }: JsonObject): boolean {
  if (type === 'adaptive') return traits.adaptive
  if (type === 'enabled') return traits.budget
  return type !== 'disabled' || traits.canDisable || !traits.adaptive
}

function rewritten(
  traits: ModelTraits,
  thinking: JsonObject,
  effort: JsonValue | undefined,
  value: (name: string) => JsonValue | undefined,
): JsonObject | null {
  const maxTokens = Math.min(
    wholeNumber(value('max_tokens'), 0) ?? traits.maxOutput,
    traits.maxOutput,
  )
  const reasoning = asked(thinking, effort)
  const messages = objectsIn(value('messages'))
  const bounds = { traits, maxTokens, forced: false, keepsThoughts: keepsItsThoughts(messages) }
  return thinkingOf({ model: '', messages: [], stream: false, reasoning }, bounds, []).field
}

function asked(thinking: JsonObject, effort: JsonValue | undefined): Reasoning {
  if (thinking['type'] === 'disabled') return { effort: 'none' }
  const shown = { summarized: 'auto', omitted: 'none' } as const
  const show = shown[stringOf(thinking['display']) as keyof typeof shown]
  const budgetTokens = wholeNumber(thinking['budget_tokens'], 0)
  return {
    ...(budgetTokens === null ? { effort: levelOf(effort) } : { budgetTokens }),
    ...(show !== undefined && { show }),
  }
}

const levels = ['low', 'medium', 'high', 'xhigh', 'max'] as const

/** Models that decide themselves think as with `high` unless told otherwise. */
function levelOf(effort: JsonValue | undefined): (typeof levels)[number] {
  return levels.find((level) => level === effort) ?? 'high'
}

/** Null: the model takes none. */
function takenEffort(traits: ModelTraits, effort: JsonValue): JsonValue {
  if (!traits.effort) return null
  const isTooMuch = (effort === 'xhigh' && !traits.xhigh) || (effort === 'max' && !traits.adaptive)
  return isTooMuch ? 'high' : effort
}

/** As encode-turns.ts says of turns: with a budget, the turn with pending calls must begin with its thinking. */
function keepsItsThoughts(messages: readonly JsonObject[]): boolean {
  const isAsked = ({ role, content }: JsonObject) =>
    role === 'user' && !objectsIn(content).some(({ type }) => type === 'tool_result')
  const first = messages
    .slice(messages.findLastIndex(isAsked) + 1)
    .find(({ role }) => role === 'assistant')
  const blocks = objectsIn(first?.['content'])
  if (!blocks.some(({ type }) => type === 'tool_use')) return true
  return /^(redacted_)?thinking$/.test(stringOf(blocks[0]?.['type']))
}
