// Removes and reports parameters that a model refuses although its format has them, so that clients can switch models.

import { fittedThinking } from '../wire/anthropic-messages/fit-thinking.ts'
import { traitsOf as claudeTraits, refusedSampling } from '../wire/anthropic-messages/models.ts'
import type { VendorDialectId } from '../wire/formats.ts'
import type { JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import { effortsOf, type OpenAiTraits, traitsOf } from '../wire/openai/models.ts'
import { textLogprobs } from '../wire/openai-responses/include.ts'
import { effortMember, replacedEffort, replacing } from './efforts.ts'
import type { NamedCall, ParameterRule, Value } from './vendor.ts'

/** Refuses these parameters whatever their value. */
export function refuses(...keys: readonly string[]): ParameterRule {
  return { keys, dropped: () => keys }
}

const renamedLimit = { max_tokens: 'max_completion_tokens' }

function chatRule(traits: OpenAiTraits): ParameterRule {
  const { newLimit, refused, takenUnthinking } = traits
  const unthinking = refused.filter((name) => !takenUnthinking.includes(name))
  return {
    keys: newLimit ? ['max_tokens', ...refused] : refused,
    ...(newLimit && { renamed: renamedLimit }),
    dropped: (value) => (isUnthinking(traits, value('reasoning_effort')) ? unthinking : refused),
  }
}

/** The only parameters of a Responses request that some models refuse. */
const inResponses = ['temperature', 'top_p', 'top_logprobs']
/** Refused as `top_logprobs` is: `logprobs are not supported with reasoning models`, `param: "include"`. */
const logprobsEntry = { list: 'include', entry: textLogprobs, about: 'top_logprobs' }

function isUnthinking({ unthinking }: OpenAiTraits, effort: JsonValue | undefined): boolean {
  return effort === undefined ? unthinking === true : effort === 'none'
}

function responsesRule(traits: OpenAiTraits): ParameterRule {
  const { newLimit, takenUnthinking } = traits
  if (!newLimit) return refuses('reasoning')
  const unthinking = inResponses.filter((name) => !takenUnthinking.includes(name))
  const effort = (value: Value) => {
    const reasoning = value('reasoning')
    return isObject(reasoning) ? reasoning.effort : undefined
  }
  return {
    keys: [...inResponses, logprobsEntry.list],
    entry: logprobsEntry,
    dropped: (value) => (isUnthinking(traits, effort(value)) ? unthinking : inResponses),
  }
}

const ofDialect: Partial<Record<VendorDialectId, (traits: OpenAiTraits) => ParameterRule>> = {
  'openai-chat': chatRule,
  'openai-responses': responsesRule,
}

const claudeSampling = ['temperature', 'top_p', 'top_k']

function claudeRule(model: string): ParameterRule | null {
  if (!model.toLowerCase().includes('claude')) return null
  const traits = claudeTraits(model)
  return {
    keys: [...claudeSampling, 'thinking', 'output_config'],
    dropped(value) {
      const { thinking } = fittedThinking(traits, value)
      const sent = (name: string) =>
        name === 'thinking' && thinking !== undefined ? (thinking ?? undefined) : value(name)
      return refusedSampling(traits, sent)
    },
    replaced(value) {
      const { thinking, output_config: config } = fittedThinking(traits, value)
      return new Map([
        ...(thinking === undefined
          ? []
          : [['thinking', { value: thinking, name: 'thinking' }] as const]),
        ...(config === undefined
          ? []
          : [['output_config', { value: config, name: 'output_config.effort' }] as const]),
      ])
    },
  }
}

function ruleOf({ dialect, model }: NamedCall): ParameterRule | null {
  if (dialect === 'anthropic-messages') return claudeRule(model)
  const traits = traitsOf(model)
  const rule = traits === null ? null : (ofDialect[dialect]?.(traits) ?? null)
  const efforts = rule === null ? null : effortsOf(model, dialect === 'openai-chat')
  return rule === null || efforts === null ? rule : withEfforts(rule, dialect, efforts)
}

/** Adds the efforts that the model takes to what it refuses. */
function withEfforts(
  rule: ParameterRule,
  dialect: VendorDialectId,
  efforts: readonly string[],
): ParameterRule {
  const member = effortMember(dialect)
  return {
    ...rule,
    keys: [...rule.keys, member],
    // What else the model takes depends on the effort that it is sent.
    dropped: (value) =>
      rule.dropped((name) => {
        const sent = name === member ? replacedEffort(dialect, efforts, value) : null
        return sent === null ? value(name) : sent.value
      }),
    replaced: (value) => replacing(dialect, efforts, value),
  }
}

/** The most names whose rules are cached; further names are looked up each time. */
const maxKnown = 1_024
const known = new Map<string, ParameterRule | null>()

/** For vendors that serve OpenAI's or Anthropic's models under their original names. */
export function makersParameters(call: NamedCall): ParameterRule | null {
  const name = `${call.dialect} ${call.model}`
  const found = known.get(name)
  if (found !== undefined) return found
  const rule = ruleOf(call)
  if (known.size < maxKnown) known.set(name, rule)
  return rule
}

/** For vendors that serve them under the operator's own names: the model is recognized by the name that clients use. */
export function deployedParameters(call: NamedCall): ParameterRule | null {
  return makersParameters(call) ?? makersParameters({ ...call, model: call.asked })
}
