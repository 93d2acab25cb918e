// Encodes tools, the tool choice and the response format for Anthropic.

import { invalidRequest } from '../../errors.ts'
import { dropDescription } from '../hub/dropped-fields.ts'
import { withPlainRoot } from '../hub/object-schema.ts'
import type { ChatRequest, JsonObject, Tool } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { ownFields, self, writeCache } from './fields.ts'
import type { ModelTraits } from './models.ts'
import { constrained, inputSchema, isExpressible, isRecursive } from './schema.ts'

/**
 * A tool whose input is the reply, for models whose output cannot be constrained to a schema otherwise. The reader
 * recognises it by this name and shows its input as text.
 */
export const replyTool = 'tollgate_json_reply'

/** Whether the reply comes as input of `replyTool`; the reader of the reply must know. */
export function answersByTool(request: ChatRequest, traits: ModelTraits): boolean {
  const { responseFormat: format, toolChoice: choice } = request
  if (format === undefined || format.type === 'text' || !traits.forcedTool) return false
  // Where one of the client's own tools must be called there is no text to constrain.
  if (choice?.mode === 'required' || choice?.mode === 'tool') return false
  if (choice?.mode === 'allowed' && choice.required) return false
  return format.type === 'json' || !traits.structured || !isExpressible(format.schema)
}

/** Writes `output_config.format`, where the model has it and the reply does not come as a tool's input. */
export function formatOf(
  { responseFormat: format }: ChatRequest,
  traits: ModelTraits,
  dropped: string[],
): JsonObject {
  if (format === undefined || format.type === 'text') return {}
  if (format.type === 'json' || !traits.structured || isRecursive(format.schema)) {
    dropped.push('response_format')
    return {}
  }
  dropDescription(format, dropped)
  return { format: { type: 'json_schema', schema: constrained(format.schema) } }
}

function encodeTool(tool: Tool, index: number, traits: ModelTraits, dropped: string[]): JsonObject {
  if (tool.type === 'other') {
    const own = tool.extra[self]
    if (own !== undefined) return own
  }
  if (tool.type !== 'function') {
    const param = `tools[${index}]`
    throw invalidRequest(`${param}: this model's vendor has no tool of this type`, param)
  }
  const worded = tool.native?.[self]?.['tool']
  if (isObject(worded)) return worded
  const { parameters, name, description, strict, cache, extra } = withPlainRoot(tool)
  const schema = inputSchema(parameters)
  const strictly = strict === true && traits.structured && isExpressible(schema)
  if (strict === true && !strictly) dropped.push(`tools[${index}].function.strict`)
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: strictly ? constrained(schema) : schema,
    ...(strictly && { strict: true }),
    ...writeCache(cache),
    ...ownFields(extra),
  }
}

function replyToolFor({ responseFormat: format }: ChatRequest): JsonObject {
  const described = format?.type === 'schema' ? format.description : undefined
  return {
    name: replyTool,
    description: `Gives the final answer, as its input.${described === undefined ? '' : ` ${described}`}`,
    input_schema: inputSchema(format?.type === 'schema' ? format.schema : { type: 'object' }),
  }
}

/** Anthropic's form of the tool choice. */
interface Choice {
  readonly type: 'auto' | 'any' | 'none' | 'tool'
  readonly name?: string
}

function choiceOf({ toolChoice: choice }: ChatRequest): Choice | null {
  switch (choice?.mode) {
    case undefined:
      return null
    case 'none':
    case 'auto':
      return { type: choice.mode }
    case 'required':
      return { type: 'any' }
    case 'tool':
      return { type: 'tool', name: choice.name }
    case 'allowed':
      return { type: choice.required ? 'any' : 'auto' }
  }
}

/** The tools to offer: only those that the choice allows. */
function offered({ tools: all = [], toolChoice: choice }: ChatRequest): readonly Tool[] {
  // A tool that a message adds is defined in that message.
  const tools = all.filter((tool) => tool.native?.[self]?.['added'] !== true)
  if (choice?.mode !== 'allowed') return tools
  return tools.filter((tool) => tool.type !== 'other' && choice.names.includes(tool.name))
}

interface EncodedTools {
  readonly fields: JsonObject
  /** Some tool must be called, which excludes thinking. */
  readonly forced: boolean
}

/** `called`: tools called earlier in the conversation, which the vendor must know even where none is offered. */
export function encodeTools(
  request: ChatRequest,
  traits: ModelTraits,
  called: readonly string[],
  dropped: string[],
): EncodedTools {
  const list = offered(request).map((tool, at) => encodeTool(tool, at, traits, dropped))
  const answers = answersByTool(request, traits)
  if (list.length === 0 && !answers) return withoutTools(called)
  const asked = choiceOf(request)
  const choice = answers ? replyChoice(list.length, asked) : asked
  const forced = choice?.type === 'any' || choice?.type === 'tool'
  if (forced && !traits.forcedTool) {
    const message = 'tool_choice: this model cannot be forced to call a tool'
    throw invalidRequest(message, 'tool_choice')
  }
  const single = (request.parallelToolCalls === false || answers) && choice?.type !== 'none'
  return {
    fields: {
      tools: answers ? [...list, replyToolFor(request)] : list,
      ...((choice !== null || single) && {
        tool_choice: {
          ...(choice ?? { type: 'auto' }),
          ...(single && { disable_parallel_tool_use: true }),
        },
      }),
    },
    forced,
  }
}

/** Where the client has tools of its own, the model may also call one of them instead of replying. */
function replyChoice(others: number, asked: Choice | null): Choice {
  return others > 0 && asked?.type !== 'none' ? { type: 'any' } : { type: 'tool', name: replyTool }
}

function withoutTools(called: readonly string[]): EncodedTools {
  if (called.length === 0) return { fields: {}, forced: false }
  const tools = called.map((name) => ({ name, input_schema: inputSchema(undefined) }))
  return { fields: { tools, tool_choice: { type: 'none' } }, forced: false }
}
