// Converts tools and the tool choice of the Responses format, in which tools are flat objects.

import { invalidRequest } from '../../errors.ts'
import type { ChatRequest, JsonObject, JsonValue, Tool, ToolChoice } from '../ir.ts'
import { isObject, listOf, objectsIn, stringOf } from '../json/value.ts'
import { foreignTool } from '../openai/foreign-tool.ts'
import { hasFields, present } from '../openai-chat/hub-fields.ts'
import { type ClientTool, clientToolOf, clientToolOfItem } from './client-tools.ts'
import { ownFields, self } from './hub-fields.ts'
import { ToolNames } from './tool-names.ts'

/** The hub uses the form of chat completions, which nests the grammar. */
function grammarIn(format: JsonObject): JsonObject {
  const { type, definition, syntax, ...rest } = format
  return type === 'grammar' ? { type, grammar: { definition, syntax }, ...rest } : format
}

function grammarOut(format: JsonObject): JsonObject {
  const { grammar, ...rest } = format
  return isObject(grammar) ? { ...rest, ...grammar } : format
}

/** All tools that a request offers, each under a unique name. */
export interface Catalog {
  readonly tools: readonly Tool[]
  readonly names: ToolNames
}

/**
 * Collects the tools of `tools` and those in input items: `additional_tools`, and what a tool search found. A tool
 * that is defined again replaces its earlier definition.
 */
export function catalogOf(tools: JsonValue | undefined, input: JsonValue | undefined): Catalog {
  const offered = listAt(tools, 'tools')
  const added: Listed[] = []
  const found: Listed[] = []
  for (const [at, item] of listOf(input).entries()) {
    if (!isObject(item)) continue
    const list = listAt(item['tools'], `input[${at}].tools`)
    if (item['type'] === 'additional_tools') added.push(...list)
    else if (clientToolOfItem(item)?.type === 'tool_search') found.push(...list)
  }
  const all = [...offered, ...added, ...found]
  const names = new ToolNames(all.map(({ value }) => stringOf(value['name'])))
  const decoded = offered.flatMap((each) => decodeTool(each, names))
  const places = new Map<string, number>()
  for (const [at, tool] of decoded.entries()) if (tool.type !== 'other') places.set(tool.name, at)
  const put = (tool: Tool): void => {
    const at = tool.type === 'other' ? undefined : places.get(tool.name)
    if (at !== undefined) decoded[at] = tool
    else {
      if (tool.type !== 'other') places.set(tool.name, decoded.length)
      decoded.push(tool)
    }
  }
  for (const each of added) for (const tool of decodeTool(each, names)) put(asAdded(tool))
  for (const each of found) for (const tool of decodeTool(each, names)) put(asFound(tool))
  return { tools: decoded, names }
}

/** A member of a list of tools, with its parameter path. */
interface Listed {
  readonly value: JsonObject
  readonly place: string
}

function listAt(list: JsonValue | undefined, place: string): Listed[] {
  return objectsIn(list).map((value, at) => ({ value, place: `${place}[${at}]` }))
}

/** Marks a tool of an item that only vendors with every type of tool know. */
function asAdded(tool: Tool): Tool {
  return { ...tool, native: { [self]: { ...tool.native?.[self], added: true } } }
}

/** Marks a found tool: in this format the search's answer item defines it, not `tools`. */
function asFound(tool: Tool): Tool {
  if (tool.type === 'other') return tool
  return { ...tool, native: { [self]: { ...tool.native?.[self], found: true } } }
}

const needName: ReadonlySet<JsonValue | undefined> = new Set(['function', 'custom', 'namespace'])

/** Throws GatewayError for a tool that must have a name and has none. */
function decodeTool({ value, place }: Listed, names: ToolNames): Tool[] {
  if (needName.has(value['type']) && typeof value['name'] !== 'string') {
    throw invalidRequest(`${place}.name must be a string`, `${place}.name`)
  }
  if (value['type'] === 'namespace') return decodeNamespace({ value, place }, names)
  const { type, name, description, parameters, strict, format, ...rest } = present(value)
  const described = typeof description === 'string' && { description }
  // Present even if empty: it marks tools of this format, whose `strict` has another default.
  const extra = { [self]: rest }
  if (type === 'function' && typeof name === 'string') {
    return [
      {
        type: 'function',
        name,
        ...described,
        ...(isObject(parameters) && { parameters }),
        ...(typeof strict === 'boolean' && { strict }),
        extra,
      },
    ]
  }
  if (type === 'custom' && typeof name === 'string') {
    const grammar = isObject(format) ? { format: grammarIn(format) } : {}
    return [{ type: 'custom', name, ...described, ...grammar, extra }]
  }
  const known = clientToolOf(value)
  return [
    known === null ? { type: 'other', extra: { [self]: value } } : asFunction(known, value, names),
  ]
}

function asFunction(known: ClientTool, value: JsonObject, names: ToolNames): Tool {
  const { type: _, execution: __, environment: ___, description, parameters, ...rest } = value
  return {
    type: 'function',
    name: names.ofType(known.type),
    description: stringOf(description) || known.description,
    parameters: isObject(parameters) ? parameters : known.parameters,
    // With members of its own it counts as a function of this format, whose default is true.
    ...(hasFields(rest) && { strict: false, extra: { [self]: rest } }),
    native: { [self]: { tool: value } },
  }
}

function decodeNamespace({ value, place }: Listed, names: ToolNames): Tool[] {
  const { name, description = null, tools } = value
  const namespace = stringOf(name)
  return listAt(tools, `${place}.tools`)
    .flatMap((inner) => {
      if (inner.value['type'] !== 'namespace') return decodeTool(inner, names)
      throw invalidRequest(
        `${inner.place}: a namespace cannot contain another namespace`,
        inner.place,
      )
    })
    .map((tool) => {
      if (tool.type === 'other' || tool.native !== undefined) return tool
      const origin = { namespace, name: tool.name, description }
      return { ...tool, name: names.inside(namespace, tool.name), native: { [self]: origin } }
    })
}

/** The names under which the tools of this list are offered. */
export function namesIn(tools: JsonValue | undefined, names: ToolNames): string[] {
  const found = listAt(tools, 'tools').flatMap((tool) => decodeTool(tool, names))
  return found.flatMap((tool) => (tool.type === 'other' ? [] : [tool.name]))
}

/** The tool that a member of `tool_choice` names; null where the vendor runs it itself. */
function namedBy(value: JsonObject, names: ToolNames): string | null {
  const { type, name, namespace } = value
  if ((type === 'function' || type === 'custom') && typeof name === 'string') {
    return typeof namespace === 'string' ? names.inside(namespace, name) : name
  }
  const known = clientToolOf(value)
  return known === null ? null : names.ofType(known.type)
}

function choiceOf(value: JsonValue | undefined, names: ToolNames): ToolChoice | null {
  if (value === 'none' || value === 'auto' || value === 'required') return { mode: value }
  if (!isObject(value)) return null
  const { type, mode, tools } = value
  if (type === 'allowed_tools') {
    const allowed = objectsIn(tools).flatMap((tool) => namedBy(tool, names) ?? [])
    return { mode: 'allowed', names: allowed, required: mode === 'required' }
  }
  const name = namedBy(value, names)
  return name === null ? null : { mode: 'tool', name }
}

/** Takes tools and tool choice out of `rest`; a choice of a tool that the vendor runs stays there. */
export function takeTools(
  rest: JsonObject,
  wording: JsonObject,
  { tools: found, names }: Catalog,
): Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'> {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = rest
  const toolChoice = choiceOf(choice, names)
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

function describedBy({ description }: { readonly description?: string }): JsonObject {
  return description === undefined ? {} : { description }
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
  const { tool: worded, name = tool.name } = nativeOf(tool) ?? {}
  if (isObject(worded)) return worded
  const { extra } = tool
  if (tool.type === 'custom') {
    const format = tool.format === undefined ? {} : { format: grammarOut(tool.format) }
    return { type: 'custom', name, ...describedBy(tool), ...format, ...ownFields(extra) }
  }
  const foreign = extra?.[self] === undefined
  const fitting = foreign ? foreignTool({ parameters: {}, ...tool }, index, dropped) : tool
  // An absent `strict` means true in this format and false in others.
  const strict = fitting.strict ?? (foreign ? false : undefined)
  return {
    type: 'function',
    name,
    ...describedBy(fitting),
    parameters: fitting.parameters ?? null,
    ...(strict !== undefined && { strict }),
    ...ownFields(extra),
  }
}

/** The web search that a chat client asked for with `web_search_options`. */
function webSearch({ user_location: where, search_context_size: size }: JsonObject): JsonObject {
  const place = isObject(where) && isObject(where['approximate']) ? where['approximate'] : null
  return {
    type: 'web_search',
    ...(place !== null && { user_location: { type: 'approximate', ...place } }),
    ...(size !== undefined && { search_context_size: size }),
  }
}

/** Groups tools of a namespace where its first one is; tools that an input item defines are left out of the list. */
function encodeList(tools: readonly Tool[], dropped: string[]): JsonObject[] {
  const list: JsonObject[] = []
  const groups = new Map<string, JsonObject[]>()
  for (const [index, tool] of tools.entries()) {
    const origin = nativeOf(tool)
    if (origin?.['found'] === true) continue
    const encoded = encodeTool(tool, index, dropped)
    const namespace = origin?.['namespace']
    if (typeof namespace !== 'string') {
      list.push(encoded)
      continue
    }
    const group = groups.get(namespace)
    if (group !== undefined) group.push(encoded)
    else {
      const inner = [encoded]
      groups.set(namespace, inner)
      const description = origin?.['description']
      const described = description == null ? {} : { description }
      list.push({ type: 'namespace', name: namespace, ...described, tools: inner })
    }
  }
  return list
}

function encodeChoice(choice: ToolChoice, tools: readonly Tool[]): JsonValue {
  const byName = new Map(tools.map((tool) => [tool.type === 'other' ? null : tool.name, tool]))
  const named = (name: string): JsonObject => {
    const tool = byName.get(name)
    const type = tool?.type === 'custom' ? 'custom' : 'function'
    const { tool: worded, namespace, name: inner } = nativeOf(tool) ?? {}
    if (isObject(worded)) return { type: stringOf(worded['type']) }
    if (typeof namespace === 'string') return { type, name: stringOf(inner), namespace }
    return { type, name }
  }
  if (choice.mode === 'tool') return named(choice.name)
  if (choice.mode !== 'allowed') return choice.mode
  const mode = choice.required ? 'required' : 'auto'
  return { type: 'allowed_tools', mode, tools: choice.names.map(named) }
}

/** The tool's own form in this format, if it is not a plain function. */
export function nativeOf(tool: Tool | undefined): JsonObject | undefined {
  return tool === undefined || tool.type === 'other' ? undefined : tool.native?.[self]
}

/** Throws GatewayError for a tool that only another vendor runs. */
export function encodeTools(request: ChatRequest, dropped: string[]): JsonObject {
  const { tools = [], toolChoice, parallelToolCalls } = request
  if (tools.length === 0) return {}
  return {
    tools: encodeList(tools, dropped),
    ...(toolChoice !== undefined && { tool_choice: encodeChoice(toolChoice, tools) }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
  }
}
