// Encodes a chat request for Cohere's Chat API, version 2 ("Chat", https://docs.cohere.com/reference/chat).

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../codec.ts'
import {
  clamped,
  dropDescription,
  droppedFields,
  refuseUnsupported,
  supportedFields,
} from '../hub/dropped-fields.ts'
import { withProperties } from '../hub/object-schema.ts'
import type { ChatRequest, Effort, JsonObject, Tool } from '../ir.ts'
import { encodeMessages } from './messages.ts'

const maxStops = 5

/** The hub fields that this format can express, beside those every format can. */
const supported = supportedFields(
  'topK',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'reasoning',
)

/** Model families that cannot think; any other is assumed to. */
const plain =
  /^(command-r|command-light|command-nightly|command-a-0|command-a-vision|command-a-translate|c4ai-)/

function thinks(model: string): boolean {
  return !plain.test(model.toLowerCase()) && model.toLowerCase() !== 'command'
}

/** Thinking budgets for efforts; with higher efforts the model is not limited. */
const budgets: Readonly<Partial<Record<Effort, number>>> = {
  minimal: 512,
  low: 1_024,
  medium: 8_192,
}

function thinkingOf({ reasoning }: ChatRequest, model: string, dropped: string[]): JsonObject {
  const { effort, budgetTokens, adaptive } = reasoning ?? {}
  if (effort === undefined && budgetTokens === undefined && adaptive === undefined) return {}
  if (!thinks(model)) {
    // A model that never thinks already satisfies `none`.
    if (effort !== 'none') dropped.push('reasoning_effort')
    return {}
  }
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  const budget = budgetTokens ?? (effort === undefined ? undefined : budgets[effort])
  return { thinking: { type: 'enabled', ...(budget !== undefined && { token_budget: budget }) } }
}

/** Cohere's penalties range from 0 (the default) to 1. */
function penalty(value: number | undefined, name: string, dropped: string[]): JsonObject {
  const bounded = value === undefined ? 0 : clamped(value, [0, 1], name, dropped)
  return bounded === 0 ? {} : { [name]: bounded }
}

function samplingOf(request: ChatRequest, dropped: string[]): JsonObject {
  const { temperature, topP, topK, seed, stop = [] } = request
  return {
    ...(temperature !== undefined && {
      temperature: clamped(temperature, [0, 1], 'temperature', dropped),
    }),
    ...(topP !== undefined && { p: clamped(topP, [0.01, 0.99], 'top_p', dropped) }),
    ...(topK !== undefined && { k: clamped(topK, [0, 500], 'top_k', dropped) }),
    ...(seed !== undefined && { seed }),
    ...penalty(request.frequencyPenalty, 'frequency_penalty', dropped),
    ...penalty(request.presencePenalty, 'presence_penalty', dropped),
    ...(stop.length > 0 && { stop_sequences: [...stop] }),
  }
}

/** Cohere takes no format beside tools ("Chat", `response_format`: "Limitation"). */
function formatOf(request: ChatRequest, dropped: string[]): JsonObject {
  const { responseFormat: format } = request
  if (format === undefined || format.type === 'text') return {}
  if (offered(request).length > 0) {
    dropped.push('response_format')
    return {}
  }
  const schema = format.type === 'schema' ? { json_schema: format.schema } : {}
  dropDescription(format, dropped)
  return { response_format: { type: 'json_object', ...schema } }
}

function toolOf(tool: Tool, index: number, dropped: string[]): JsonObject {
  const param = `tools[${index}]`
  if (tool.type !== 'function') {
    throw invalidRequest(`${param}: this model's vendor has no tools of this type`, param)
  }
  const { name, description } = tool
  const parameters = withProperties(tool.parameters ?? {})
  if (tool.cache !== undefined) dropped.push(`${param}.cache_control`)
  const target = { name, ...(description !== undefined && { description }), parameters }
  return { type: 'function', function: target }
}

/** The tools to offer: only those that the choice allows, because Cohere has no choice by name. */
function offered({ tools = [], toolChoice: choice }: ChatRequest): readonly Tool[] {
  if (choice?.mode === 'tool') {
    return tools.filter((tool) => tool.type !== 'other' && tool.name === choice.name)
  }
  if (choice?.mode !== 'allowed') return tools
  return tools.filter((tool) => tool.type !== 'other' && choice.names.includes(tool.name))
}

function choiceOf({ toolChoice: choice }: ChatRequest): JsonObject {
  switch (choice?.mode) {
    case 'none':
      return { tool_choice: 'NONE' }
    case 'required':
    case 'tool':
      return { tool_choice: 'REQUIRED' }
    case 'allowed':
      return choice.required ? { tool_choice: 'REQUIRED' } : {}
    default:
      return {}
  }
}

/** `strict_tools` applies to all tools or to none. */
function strictOf(tools: readonly Tool[], dropped: string[]): JsonObject {
  const strict = tools.map((tool) => tool.type === 'function' && tool.strict === true)
  if (strict.length > 0 && strict.every(Boolean)) return { strict_tools: true }
  for (const [index, each] of strict.entries()) {
    if (each) dropped.push(`tools[${index}].function.strict`)
  }
  return {}
}

function toolsOf(request: ChatRequest, dropped: string[]): JsonObject {
  const tools = offered(request)
  if (tools.length === 0) return {}
  if (request.parallelToolCalls === false) dropped.push('parallel_tool_calls')
  return {
    tools: tools.map((tool, index) => toolOf(tool, index, dropped)),
    ...strictOf(tools, dropped),
    ...choiceOf(request),
  }
}

/** Throws GatewayError naming the field that must not be left out. */
export function encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject> {
  refuseUnsupported(request, maxStops)
  const dropped = droppedFields(request, 'cohere-v2', supported)
  const { maxOutputTokens } = request
  const value: JsonObject = {
    model,
    messages: encodeMessages(request.messages, thinks(model), dropped),
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
    ...samplingOf(request, dropped),
    ...formatOf(request, dropped),
    ...toolsOf(request, dropped),
    ...thinkingOf(request, model, dropped),
    stream: request.stream,
  }
  return { value, dropped }
}
