// Decodes a request in Anthropic's Messages format into the hub.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../codec.ts'
import type {
  ChatRequest,
  Effort,
  JsonObject,
  JsonValue,
  Message,
  Reasoning,
  ResponseFormat,
  Tool,
  ToolChoice,
} from '../ir.ts'
import { isObject, objectOf, objectsIn, stringOf } from '../json/value.ts'
import type { Address } from '../request.ts'
import { asFunction } from './client-tools.ts'
import { decodeBlocks, decodeContent } from './decode-blocks.ts'
import { present, self, takeCache, withExtra } from './fields.ts'

/**
 * Decodes the body that Anthropic's "Create a Message" describes, in either version. Null counts as absent; fields
 * that only this format has are kept in `extra`.
 */
export function decodeRequest(body: JsonObject, address: Address = {}): Decoded<ChatRequest> {
  const rest = present(body)
  const { model, messages, stream } = rest
  if (typeof model !== 'string') throw invalidRequest('model must be a string', 'model')
  if (!Array.isArray(messages)) throw invalidRequest('messages must be an array', 'messages')
  for (const name of ['model', 'messages', 'stream']) delete rest[name]
  const system = takeSystem(rest)
  const value: ChatRequest = {
    model,
    messages: [...system, ...messages.flatMap(decodeTurn)],
    stream: stream === true,
    ...takeNumbers(rest),
    ...takeStop(rest),
    ...takeTools(rest, messages, address),
    ...takeReasoning(rest),
    ...takeFormat(rest),
    ...takeUser(rest),
    ...takeTier(rest),
    ...takeCache(rest),
    ...withExtra(rest),
  }
  return { value, dropped: [] }
}

function takeSystem(rest: JsonObject): Message[] {
  const parts = decodeContent(rest['system'])
  delete rest['system']
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

/**
 * Splits one turn into messages: first one for each tool result (the format demands that they come first), then the
 * rest.
 */
function decodeTurn(value: JsonValue, index: number): Message[] {
  const param = `messages[${index}]`
  if (!isObject(value)) throw invalidRequest(`${param} must be an object`, param)
  const { role, content, ...rest } = present(value)
  if (role === 'system' || role === 'assistant') {
    return [{ role, parts: decodeContent(content), ...withExtra(rest) }]
  }
  if (typeof content === 'string') {
    return [{ role: 'user', parts: decodeContent(content), ...withExtra(rest) }]
  }
  const blocks = objectsIn(content)
  const results = blocks.filter(({ type }) => type === 'tool_result')
  const others = blocks.filter(({ type }) => type !== 'tool_result')
  const messages = results.map(decodeResult)
  if (others.length > 0 || messages.length === 0) {
    messages.push({ role: 'user', parts: decodeBlocks(others), ...withExtra(rest) })
  }
  return messages
}

/** A cache mark on the result becomes one on its last part. */
function decodeResult(block: JsonObject): Message {
  const fields = present(block)
  const marked = fields['cache_control']
  const { cache } = takeCache(fields)
  const { type: _, tool_use_id: id, content, is_error: isError, ...rest } = fields
  const parts = decodeContent(content)
  const last = parts.at(-1)
  if (cache !== undefined && last !== undefined) parts[parts.length - 1] = { ...last, cache }
  const kept =
    last === undefined && marked !== undefined ? { ...rest, cache_control: marked } : rest
  return {
    role: 'tool',
    parts,
    callId: stringOf(id),
    ...(isError === true && { isError }),
    ...withExtra(kept),
  }
}

const numbers = [
  ['max_tokens', 'maxOutputTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
] as const

function takeNumbers(rest: JsonObject) {
  const found: { [Field in (typeof numbers)[number][1]]?: number } = {}
  for (const [name, field] of numbers) {
    const value = rest[name]
    if (typeof value !== 'number') continue
    found[field] = value
    delete rest[name]
  }
  return found
}

function takeStop(rest: JsonObject): Pick<ChatRequest, 'stop'> {
  const { stop_sequences: stop } = rest
  delete rest['stop_sequences']
  if (!Array.isArray(stop)) return {}
  const texts = stop.filter((each) => typeof each === 'string')
  return texts.length === 0 ? {} : { stop: texts }
}

/** Throws GatewayError for a function without a name. */
function decodeTool(tool: JsonObject, place: string): Tool {
  const fields = present(tool)
  const { type = 'custom' } = fields
  if (typeof fields['name'] !== 'string') {
    if (type !== 'custom') return { type: 'other', extra: { [self]: tool } }
    throw invalidRequest(`${place}.name must be a string`, `${place}.name`)
  }
  if (type !== 'custom') return typedTool(tool, stringOf(type), fields['name'])
  const cache = takeCache(fields)
  const { type: _, name, description, input_schema: schema, strict, ...rest } = fields
  return {
    type: 'function',
    name: stringOf(name),
    ...(typeof description === 'string' && { description }),
    ...(isObject(schema) && { parameters: schema }),
    ...(typeof strict === 'boolean' && { strict }),
    ...cache,
    ...withExtra(rest),
  }
}

function typedTool(tool: JsonObject, type: string, name: string): Tool {
  const known = asFunction(type, tool)
  if (known === null) return { type: 'other', extra: { [self]: tool } }
  const fields = present(tool)
  const cache = takeCache(fields)
  for (const member of ['type', 'name', 'display_width_px', 'display_height_px'])
    delete fields[member]
  return {
    type: 'function',
    name,
    ...known,
    ...cache,
    ...withExtra(fields),
    native: { [self]: { tool } },
  }
}

/** Tools that system messages add later in the conversation; in this format those messages themselves announce them. */
function addedTools(messages: readonly JsonValue[], offered: readonly Tool[]): Tool[] {
  const known = new Set(offered.map((tool) => (tool.type === 'other' ? null : tool.name)))
  const added: Tool[] = []
  for (const [at, message] of messages.entries()) {
    if (!isObject(message) || message.role !== 'system') continue
    for (const { type, tool } of objectsIn(message.content)) {
      const { definition } = objectOf(tool)
      if (type !== 'tool_addition' || !isObject(definition)) continue
      const decoded = decodeTool(definition, `messages[${at}].content.tool.definition`)
      if (decoded.type !== 'other') {
        if (known.has(decoded.name)) continue
        known.add(decoded.name)
      }
      added.push({ ...decoded, native: { [self]: { added: true } } })
    }
  }
  return added
}

function choiceOf(choice: JsonObject): ToolChoice | null {
  if (choice.type === 'none' || choice.type === 'auto') return { mode: choice.type }
  if (choice.type === 'any') return { mode: 'required' }
  return choice.type === 'tool' ? { mode: 'tool', name: stringOf(choice.name) } : null
}

/** Asks for the input of every tool in pieces, where the tool does not say otherwise. */
const eagerBeta = 'fine-grained-tool-streaming'

function eagerly(tool: Tool): Tool {
  const own = tool.type === 'function' ? tool.extra?.[self] : null
  if (own === null || own?.eager_input_streaming !== undefined) return tool
  return { ...tool, extra: { [self]: { ...own, eager_input_streaming: true } } }
}

function takeTools(
  rest: JsonObject,
  messages: readonly JsonValue[],
  { headers }: Address,
): Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'> {
  const eager = headers?.['anthropic-beta']?.includes(eagerBeta) === true
  const listed = objectsIn(rest['tools']).map((raw, at) => {
    const tool = decodeTool(raw, `tools[${at}]`)
    return eager ? eagerly(tool) : tool
  })
  const tools = [...listed, ...addedTools(messages, listed)]
  const choice = rest['tool_choice']
  delete rest['tools']
  const toolChoice = isObject(choice) ? choiceOf(choice) : null
  if (toolChoice !== null) delete rest['tool_choice']
  const single = isObject(choice) && choice.disable_parallel_tool_use === true
  return {
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== null && { toolChoice }),
    ...(single && { parallelToolCalls: false }),
  }
}

const efforts: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max'])

function isEffort(value: JsonValue | undefined): value is Effort {
  return typeof value === 'string' && efforts.has(value)
}

/** Takes `thinking`, and the effort, which the format keeps in `output_config`. */
function takeReasoning(rest: JsonObject): Pick<ChatRequest, 'reasoning'> {
  const thinking = objectOf(rest['thinking'])
  const { effort: asked, ...config } = objectOf(rest['output_config'])
  delete rest['thinking']
  if (isEffort(asked)) rest['output_config'] = config
  const { display } = thinking
  const effort = effortOf(thinking, isEffort(asked) ? asked : undefined)
  const budgetTokens = thinking.type === 'enabled' ? thinking.budget_tokens : undefined
  const reasoning: Reasoning = {
    ...(effort !== undefined && { effort }),
    ...(typeof budgetTokens === 'number' && { budgetTokens }),
    ...(thinking.type === 'adaptive' && { adaptive: true as const }),
    ...(display === 'summarized' && { show: 'auto' as const }),
    ...(display === 'omitted' && { show: 'none' as const }),
  }
  return Object.keys(reasoning).length === 0 ? {} : { reasoning }
}

/** `between_tools` is the least thinking short of none, hence `minimal`. */
function effortOf({ type }: JsonObject, asked: Effort | undefined): Effort | undefined {
  if (type === 'disabled') return 'none'
  return type === 'between_tools' ? 'minimal' : asked
}

/** Takes `output_config.format`, or `output_format` as in the beta; schemas have no name in this format. */
function takeFormat(rest: JsonObject): { responseFormat?: ResponseFormat } {
  const { format: inside, ...config } = objectOf(rest['output_config'])
  const format = objectOf(inside ?? rest['output_format'])
  const known = format.type === 'json_schema' && isObject(format.schema)
  if (known) delete rest['output_format']
  if (known || inside === undefined) rest['output_config'] = config
  if (Object.keys(objectOf(rest['output_config'])).length === 0) delete rest['output_config']
  if (!known) return {}
  return { responseFormat: { type: 'schema', name: 'response', schema: objectOf(format.schema) } }
}

function takeUser(rest: JsonObject): Pick<ChatRequest, 'user'> {
  const { user_id: user, ...metadata } = objectOf(rest['metadata'])
  if (typeof user !== 'string') return {}
  if (Object.keys(metadata).length > 0) rest['metadata'] = metadata
  else delete rest['metadata']
  return { user }
}

const tiers: ReadonlyMap<string, string> = new Map(
  Object.entries({ auto: 'auto', standard_only: 'default' }),
)

function takeTier(rest: JsonObject): Pick<ChatRequest, 'serviceTier'> {
  const serviceTier = tiers.get(stringOf(rest['service_tier']))
  if (serviceTier === undefined) return {}
  delete rest['service_tier']
  return { serviceTier }
}
