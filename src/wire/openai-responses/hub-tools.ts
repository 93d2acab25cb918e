// Tools and the choice among them in the Responses format, whose members are flat.

import { invalidRequest } from '../../errors.ts'
import type { ChatRequest, JsonObject, JsonValue, Tool, ToolChoice } from '../ir.ts'
import { isObject } from '../openai/usage.ts'
import { present, stringOf } from '../openai-chat/hub-fields.ts'
import { objectsIn, ownFields, self } from './hub-fields.ts'

/** The hub has the form of chat completions, which nests what a grammar says. */
function grammarIn(format: JsonObject): JsonObject {
  const { type, definition, syntax, ...rest } = format
  return type === 'grammar' ? { type, grammar: { definition, syntax }, ...rest } : format
}

function grammarOut(format: JsonObject): JsonObject {
  const { grammar, ...rest } = format
  return isObject(grammar) ? { ...rest, ...grammar } : format
}

function decodeTool(value: JsonObject): Tool {
  const { type, name, description, parameters, strict, format, ...rest } = present(value)
  const described = typeof description === 'string' && { description }
  // Even where it is empty: a tool of this format keeps its own meaning of an absent `strict`.
  const extra = { [self]: rest }
  if (type === 'function' && typeof name === 'string') {
    return {
      type: 'function',
      name,
      ...described,
      ...(isObject(parameters) && { parameters }),
      ...(typeof strict === 'boolean' && { strict }),
      extra,
    }
  }
  if (type === 'custom' && typeof name === 'string') {
    const grammar = isObject(format) ? { format: grammarIn(format) } : {}
    return { type: 'custom', name, ...described, ...grammar, extra }
  }
  return { type: 'other', extra: { [self]: value } }
}

function choiceOf(value: JsonValue | undefined): ToolChoice | null {
  if (value === 'none' || value === 'auto' || value === 'required') return { mode: value }
  if (!isObject(value)) return null
  const { type, name, mode, tools } = value
  if (type === 'allowed_tools') {
    const names = objectsIn(tools).map((tool) => stringOf(tool['name']))
    return { mode: 'allowed', names, required: mode === 'required' }
  }
  const named = (type === 'function' || type === 'custom') && typeof name === 'string'
  return named ? { mode: 'tool', name: stringOf(name) } : null
}

/** Takes tools and choice out of `rest`; a choice among tools of the vendor's own stays. */
export function takeTools(
  rest: JsonObject,
  wording: JsonObject,
): Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'> {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = rest
  const found = objectsIn(tools).map(decodeTool)
  const toolChoice = choiceOf(choice)
  if (Array.isArray(tools)) delete rest['tools']
  if (toolChoice !== null) delete rest['tool_choice']
  if (toolChoice?.mode === 'allowed' && choice !== undefined) wording['tool_choice'] = choice
  if (typeof parallel === 'boolean') delete rest['parallel_tool_calls']
  return {
    ...(found.length > 0 && { tools: found }),
    ...(toolChoice !== null && { toolChoice }),
    ...(typeof parallel === 'boolean' && { parallelToolCalls: parallel }),
  }
}

function encodeTool(tool: Tool, index: number, dropped: string[]): JsonObject {
  if (tool.type === 'other') {
    const own = tool.extra[self]
    if (own !== undefined) return own
    const [fields] = Object.values(tool.extra)
    const search = fields?.['web_search_options']
    if (isObject(search)) return webSearch(search)
    const type = stringOf(fields?.['type']) || 'this type'
    const param = `tools[${index}]`
    throw invalidRequest(
      `${param}: tools of type '${type}' cannot be used with this model: its vendor does not run them`,
      param,
    )
  }
  if (tool.cache !== undefined) dropped.push(`tools[${index}].cache_control`)
  const { name, description, extra } = tool
  const described = description === undefined ? {} : { description }
  if (tool.type === 'custom') {
    const format = tool.format === undefined ? {} : { format: grammarOut(tool.format) }
    return { type: 'custom', name, ...described, ...format, ...ownFields(extra) }
  }
  // Absent means true here and false elsewhere.
  const foreign = extra?.[self] === undefined
  const strict = tool.strict ?? (foreign ? false : undefined)
  return {
    type: 'function',
    name,
    ...described,
    parameters: tool.parameters ?? (foreign ? { type: 'object', properties: {} } : null),
    ...(strict !== undefined && { strict }),
    ...ownFields(extra),
  }
}

/** The search a chat client asked for with `web_search_options`. */
function webSearch({ user_location: where, search_context_size: size }: JsonObject): JsonObject {
  const place = isObject(where) && isObject(where['approximate']) ? where['approximate'] : null
  return {
    type: 'web_search',
    ...(place !== null && { user_location: { type: 'approximate', ...place } }),
    ...(size !== undefined && { search_context_size: size }),
  }
}

function encodeChoice(choice: ToolChoice, tools: readonly Tool[]): JsonValue {
  const named = (name: string): JsonObject => {
    const custom = tools.some((tool) => tool.type === 'custom' && tool.name === name)
    return { type: custom ? 'custom' : 'function', name }
  }
  if (choice.mode === 'tool') return named(choice.name)
  if (choice.mode !== 'allowed') return choice.mode
  const mode = choice.required ? 'required' : 'auto'
  return { type: 'allowed_tools', mode, tools: choice.names.map(named) }
}

/** Throws GatewayError for a tool that only another vendor runs. */
export function encodeTools(request: ChatRequest, dropped: string[]): JsonObject {
  const { tools = [], toolChoice, parallelToolCalls } = request
  if (tools.length === 0) return {}
  return {
    tools: tools.map((tool, index) => encodeTool(tool, index, dropped)),
    ...(toolChoice !== undefined && { tool_choice: encodeChoice(toolChoice, tools) }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
  }
}
