// Encodes tools, the tool choice and the response format for Converse.

import { invalidRequest } from '../../errors.ts'
import { constrained, inputSchema, isExpressible } from '../anthropic-messages/schema.ts'
import { withPlainRoot } from '../hub/object-schema.ts'
import type { ChatRequest, JsonObject, JsonValue, Tool } from '../ir.ts'
import { objectOf } from '../json/value.ts'
import { cachePoint, type Writing } from './content.ts'
import type { Family } from './families.ts'

interface EncodedTools {
  readonly toolConfig: JsonObject | null
  /** Anthropic's `tool_choice` where Converse's own cannot express the choice; sent in its place. */
  readonly claudeChoice: JsonObject | null
  /** A tool must be called, which excludes Claude's thinking. */
  readonly forced: boolean
  /** An instruction not to call tools, for models that have no other way to forbid listed tools. */
  readonly steering: JsonObject[]
}

const none: EncodedTools = { toolConfig: null, claudeChoice: null, forced: false, steering: [] }

function mustCall({ toolChoice: choice }: ChatRequest): boolean {
  return (
    choice?.mode === 'required' ||
    choice?.mode === 'tool' ||
    (choice?.mode === 'allowed' && choice.required)
  )
}

/** Whether Bedrock itself enforces the schema ("Structured outputs"). */
function isNative({ responseFormat: format }: ChatRequest, { traits }: Family): boolean {
  return format?.type === 'schema' && traits?.structured === true && isExpressible(format.schema)
}

/** Whether the reply comes as a tool's input; if the client's own tools must be called there is no such text. */
export function answersByTool(request: ChatRequest, family: Family): boolean {
  const { responseFormat: format } = request
  if (format === undefined || format.type === 'text') return false
  return !mustCall(request) && !isNative(request, family) && family.forces !== null
}

/** Writes `outputConfig`; names the format in `dropped` where it cannot be enforced. */
export function outputConfigOf(request: ChatRequest, writing: Writing): JsonObject {
  const { responseFormat: format } = request
  if (format === undefined || format.type === 'text') return {}
  if (format.type === 'json' || !isNative(request, writing.family)) {
    if (!answersByTool(request, writing.family)) writing.dropped.push('response_format')
    return {}
  }
  const { name, description, schema } = format
  const jsonSchema = {
    schema: JSON.stringify(constrained(schema)),
    name,
    ...(description !== undefined && { description }),
  }
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } }
}

function specOf(tool: Tool, index: number, { family, dropped }: Writing): JsonObject[] {
  const param = `tools[${index}]`
  if (tool.type !== 'function') {
    throw invalidRequest(`${param}: this model's vendor has no tool of this type`, param)
  }
  const { name, description, strict, parameters, cache } = withPlainRoot(tool)
  const schema = inputSchema(parameters)
  const strictly = strict === true && family.traits?.structured === true && isExpressible(schema)
  if (strict === true && !strictly) dropped.push(`${param}.function.strict`)
  if (cache !== undefined && !family.cachesTools) dropped.push(`${param}.cache_control`)
  const toolSpec = {
    name,
    ...(description !== undefined && description !== '' && { description }),
    inputSchema: { json: strictly ? constrained(schema) : schema },
    ...(strictly && { strict: true }),
  }
  const point = cache !== undefined && family.cachesTools ? [cachePoint(cache)] : []
  return [{ toolSpec }, ...point]
}

function replySpec({ responseFormat: format }: ChatRequest): JsonObject {
  const described = format?.type === 'schema' ? (format.description ?? '') : ''
  const schema = inputSchema(format?.type === 'schema' ? format.schema : { type: 'object' })
  const description = `Gives the final answer, as its input. ${described}`.trim()
  return { toolSpec: { name: replyTool, description, inputSchema: { json: schema } } }
}

/** The tools to offer: only those that the choice allows. */
function offered({ tools = [], toolChoice: choice }: ChatRequest): readonly Tool[] {
  if (choice?.mode !== 'allowed') return tools
  return tools.filter((tool) => tool.type !== 'other' && choice.names.includes(tool.name))
}

/** Anthropic's form of the tool choice, which can express all of them. */
interface Choice {
  readonly type: 'auto' | 'any' | 'none' | 'tool'
  readonly name?: string
}

function choiceOf({ toolChoice: choice }: ChatRequest): Choice {
  if (choice?.mode === 'none') return { type: 'none' }
  if (choice?.mode === 'required') return { type: 'any' }
  if (choice?.mode === 'tool') return { type: 'tool', name: choice.name }
  return { type: choice?.mode === 'allowed' && choice.required ? 'any' : 'auto' }
}

/** Where the client has tools of its own, the model may also call one of them instead of replying. */
function replyChoice(others: number, asked: Choice): Choice {
  return others > 0 && asked.type !== 'none' ? { type: 'any' } : { type: 'tool', name: replyTool }
}

function converseChoice({ type, name }: Choice): JsonObject {
  return type === 'tool' ? { tool: { name } } : { [type]: {} }
}

function nameOf({ toolSpec }: JsonObject): JsonValue | undefined {
  return objectOf(toolSpec)['name']
}

const steering = [{ text: 'Answer in words. Do not call any tool.' }]

/**
 * Tools that may not be called. They must be listed where the conversation has calls of them. Converse has no choice
 * `none`, so that Claude gets Anthropic's member and any other model an instruction.
 */
function withheld(list: readonly JsonObject[], called: readonly string[], writing: Writing) {
  if (called.length === 0) return none
  const specs = called.map((name) => ({
    toolSpec: { name, inputSchema: { json: inputSchema(undefined) } },
  }))
  const toolConfig = { tools: list.length > 0 ? [...list] : specs }
  return writing.family.name === 'claude'
    ? { ...none, toolConfig, claudeChoice: { type: 'none' } }
    : { ...none, toolConfig, steering }
}

/** `called`: tools called earlier in the conversation. Throws GatewayError for an inexpressible tool or choice. */
export function encodeTools(
  request: ChatRequest,
  called: readonly string[],
  writing: Writing,
): EncodedTools {
  const { family, dropped } = writing
  const list = offered(request).flatMap((tool, index) => specOf(tool, index, writing))
  const answers = answersByTool(request, family)
  const asked = choiceOf(request)
  if (!answers && (list.length === 0 || asked.type === 'none')) {
    return withheld(list, called, writing)
  }
  const choice = answers ? replyChoice(list.length, asked) : asked
  const forced = choice.type === 'any' || choice.type === 'tool'
  if (forced && family.forces === null) {
    const message = 'tool_choice: this model cannot be forced to call a tool'
    throw invalidRequest(message, 'tool_choice')
  }
  const all = answers ? [...list, replySpec(request)] : list
  const byName = choice.type === 'tool' && family.forces === 'any'
  const tools = byName ? all.filter((each) => nameOf(each) === choice.name) : all
  const single = request.parallelToolCalls === false
  if (single && family.name === 'claude') {
    const claudeChoice = { ...choice, disable_parallel_tool_use: true }
    return { ...none, toolConfig: { tools }, claudeChoice, forced }
  }
  if (single) dropped.push('parallel_tool_calls')
  const toolChoice =
    choice.type === 'auto' ? {} : { toolChoice: converseChoice(byName ? { type: 'any' } : choice) }
  return { ...none, toolConfig: { tools, ...toolChoice }, forced }
}

/**
 * A tool whose input is the reply, for models whose output cannot be constrained otherwise. The reader recognises it
 * by this name and shows its input as text.
 */
export const replyTool = 'tollgate_json_reply'
