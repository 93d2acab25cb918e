// Decodes tools and the tool choice into the hub and encodes them from it.

import { invalidRequest } from '../../errors.ts'
import type { ChatRequest, JsonObject, JsonValue, Tool, ToolChoice } from '../ir.ts'
import { isObject, objectOf, stringOf } from '../json/value.ts'
import { foreignTool } from '../openai/foreign-tool.ts'
import { cacheOf, hasFields, ownFields, present, withExtra } from './hub-fields.ts'

type FunctionTool = Extract<Tool, { readonly type: 'function' }>

function functionTool(target: JsonObject, rest: JsonObject): Tool {
  const { name, description, parameters, strict, ...more } = present(target)
  const kept = hasFields(more) ? { ...rest, function: more } : rest
  return {
    type: 'function',
    name: stringOf(name),
    ...(typeof description === 'string' && { description }),
    ...(isObject(parameters) && { parameters }),
    ...(typeof strict === 'boolean' && { strict }),
    ...cacheOf(rest),
    // Even where it is empty: a tool of this format is written as it came.
    extra: { 'openai-chat': kept },
  }
}

/** Throws GatewayError for a tool without the object that describes it. */
function decodeTool(value: JsonObject, index: number): Tool {
  const { type, function: target, custom, ...rest } = present(value)
  if (type === 'function' && isObject(target)) return functionTool(target, rest)
  if (type === 'function' || (type === 'custom' && !isObject(custom))) {
    const param = `tools[${index}].${type}`
    throw invalidRequest(`${param} must be an object`, param)
  }
  if (type !== 'custom' || !isObject(custom))
    return { type: 'other', extra: { 'openai-chat': value } }
  const { name, description, format, ...more } = present(custom)
  return {
    type: 'custom',
    name: stringOf(name),
    ...(typeof description === 'string' && { description }),
    ...(isObject(format) && { format }),
    ...cacheOf(rest),
    ...withExtra(hasFields(more) ? { ...rest, custom: more } : rest),
  }
}

/**
 * Takes `tools`, the deprecated `functions` and `web_search_options` out of `rest`; the last is a tool that the
 * vendor runs itself.
 */
export function takeTools(rest: JsonObject): { tools?: readonly Tool[] } {
  const { tools, functions, web_search_options: search } = rest
  const found: Tool[] = []
  if (Array.isArray(tools)) {
    found.push(...tools.filter(isObject).map(decodeTool))
    delete rest['tools']
  }
  if (Array.isArray(functions)) {
    for (const target of functions.filter(isObject)) {
      found.push(functionTool(target, { deprecated: true }))
    }
    delete rest['functions']
  }
  if (isObject(search)) {
    found.push({ type: 'other', extra: { 'openai-chat': { web_search_options: search } } })
    delete rest['web_search_options']
  }
  return found.length === 0 ? {} : { tools: found }
}

function namesOf(tools: JsonValue | undefined): string[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool) => {
    if (!isObject(tool)) return []
    const target = isObject(tool['custom']) ? tool['custom'] : tool['function']
    return isObject(target) ? [stringOf(target['name'])] : []
  })
}

/** Reads a value of `tool_choice`; null where it is not one of OpenAI's. */
function choiceOf(value: JsonValue | undefined): ToolChoice | null {
  if (value === 'none' || value === 'auto' || value === 'required') return { mode: value }
  // Mistral's word for `required`.
  if (value === 'any') return { mode: 'required' }
  if (!isObject(value)) return null
  const { type } = value
  if (type === 'allowed_tools' && isObject(value['allowed_tools'])) {
    const { mode, tools } = value['allowed_tools']
    return { mode: 'allowed', names: namesOf(tools), required: mode === 'required' }
  }
  const target = type === 'custom' ? value['custom'] : value['function']
  const name = isObject(target) ? stringOf(target['name']) : ''
  return name === '' ? null : { mode: 'tool', name }
}

/** Reads the deprecated `function_call`: `none`, `auto` or a name. */
function deprecatedChoice(value: JsonValue | undefined): ToolChoice | null {
  if (value === 'none' || value === 'auto') return { mode: value }
  const name = isObject(value) ? stringOf(value['name']) : ''
  return name === '' ? null : { mode: 'tool', name }
}

/** Takes the choice out of `rest`; a spelling that cannot be rebuilt from it goes to `wording`. */
export function takeToolChoice(
  rest: JsonObject,
  wording: JsonObject,
): Pick<ChatRequest, 'toolChoice' | 'parallelToolCalls'> {
  const { tool_choice: newer, function_call: older, parallel_tool_calls: parallel } = rest
  const newerChoice = choiceOf(newer)
  const olderChoice = deprecatedChoice(older)
  if (newerChoice !== null) {
    delete rest['tool_choice']
    const plain = typeof newer === 'string' || newerChoice.mode === 'tool'
    if (newer !== undefined && (!plain || newer === 'any')) wording['tool_choice'] = newer
  }
  if (older !== undefined && olderChoice !== null) {
    delete rest['function_call']
    wording['function_call'] = older
    if (newerChoice !== null && newer !== undefined) wording['tool_choice'] = newer
  }
  if (typeof parallel === 'boolean') delete rest['parallel_tool_calls']
  const choice = newerChoice ?? olderChoice
  return {
    ...(choice !== null && { toolChoice: choice }),
    ...(typeof parallel === 'boolean' && { parallelToolCalls: parallel }),
  }
}

function encodeFunction(tool: FunctionTool, index: number, dropped: string[]): JsonObject {
  const foreign = tool.extra?.['openai-chat'] === undefined
  const { name, description, parameters, strict } = foreign
    ? foreignTool(tool, index, dropped)
    : tool
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(strict !== undefined && { strict }),
  }
}

function withInner(body: JsonObject, inner: string, fields: JsonObject): JsonObject {
  const { [inner]: more, ...rest } = fields
  const target = objectOf(body[inner])
  return { ...body, [inner]: { ...target, ...(isObject(more) && more) }, ...rest }
}

function encodeTool(
  tool: Exclude<Tool, { readonly type: 'other' }>,
  index: number,
  dropped: string[],
): JsonObject {
  const own = ownFields(tool.extra)
  if (tool.type === 'function') {
    return withInner(
      { type: 'function', function: encodeFunction(tool, index, dropped) },
      'function',
      own,
    )
  }
  const { name, description, format } = tool
  const custom = {
    name,
    ...(description !== undefined && { description }),
    ...(format !== undefined && { format }),
  }
  return withInner({ type: 'custom', custom }, 'custom', own)
}

/** A tool that a vendor runs itself; the error names its type if that vendor is another one. */
function otherTool(tool: Extract<Tool, { readonly type: 'other' }>, index: number): JsonObject {
  const own = tool.extra['openai-chat']
  if (own !== undefined) return own
  const [fields] = Object.values(tool.extra)
  const type = stringOf(fields?.['type']) || 'this type'
  const param = `tools[${index}]`
  throw invalidRequest(
    `${param}: tools of type '${type}' cannot be used with this model: its vendor does not run them`,
    param,
  )
}

/** The fields of a request that `encodeTools` uses. */
type ToolRequest = Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>

/** The tools to offer: only those that the choice allows, because `allowed_tools` exists at OpenAI alone. */
function offered({ tools = [], toolChoice: choice }: ToolRequest, keepsAll: boolean): Tool[] {
  if (keepsAll || choice?.mode !== 'allowed') return [...tools]
  return tools.filter((tool) => tool.type === 'other' || choice.names.includes(tool.name))
}

/** Throws GatewayError for a tool that only another vendor runs. Without tools, no tool field is written. */
export function encodeTools(
  request: ToolRequest,
  wording: JsonObject,
  dropped: string[],
): JsonObject {
  const body: JsonObject = {}
  const tools: JsonObject[] = []
  const functions: JsonObject[] = []
  for (const [index, tool] of offered(request, wording['tool_choice'] !== undefined).entries()) {
    if (tool.type === 'other') {
      const { web_search_options: search, ...rest } = otherTool(tool, index)
      if (isObject(search)) body['web_search_options'] = search
      else tools.push(rest)
    } else if (tool.type === 'function' && ownFields(tool.extra)['deprecated'] === true) {
      functions.push(encodeFunction(tool, index, dropped))
    } else {
      if (tool.cache !== undefined && ownFields(tool.extra)['cache_control'] === undefined) {
        dropped.push(`tools[${index}].cache_control`)
      }
      tools.push(encodeTool(tool, index, dropped))
    }
  }
  if (functions.length > 0) body['functions'] = functions
  if (tools.length === 0) return body
  body['tools'] = tools
  const { toolChoice, parallelToolCalls } = request
  const worded = wording['tool_choice'] !== undefined || wording['function_call'] !== undefined
  if (toolChoice !== undefined && !worded) body['tool_choice'] = encodeChoice(toolChoice, request)
  if (parallelToolCalls !== undefined) body['parallel_tool_calls'] = parallelToolCalls
  return body
}

function encodeChoice(choice: ToolChoice, { tools = [] }: ToolRequest): JsonValue {
  if (choice.mode === 'allowed') return choice.required ? 'required' : 'auto'
  if (choice.mode !== 'tool') return choice.mode
  const { name } = choice
  const custom = tools.some((tool) => tool.type === 'custom' && tool.name === name)
  return custom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } }
}
