// The meaning of a request in any format: without private fields and spellings without meaning.

import type {
  ChatRequest,
  JsonObject,
  JsonValue,
  Message,
  RequestPart,
  Tool,
} from '../../../src/wire/ir.ts'

/** A call's input as a value, since white space is not part of it. */
function inputOf(text: string): JsonValue {
  if (text === '') return {}
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return text
  }
}

function partOf(part: RequestPart): JsonObject {
  const { extra: _, ...rest } = part
  const own = part.type === 'tool-call' && { arguments: inputOf(part.arguments) }
  const { detail, ...plain } = rest as unknown as JsonObject
  return { ...plain, ...(detail !== undefined && detail !== 'auto' && { detail }), ...own }
}

/** A function without parameters takes an empty object. */
function toolOf(tool: Tool): JsonObject {
  const { extra: _, ...rest } = tool
  const { strict, parameters, ...plain } = rest as unknown as JsonObject
  const given =
    parameters ?? (tool.type === 'function' ? { type: 'object', properties: {} } : undefined)
  return { ...plain, ...(given && { parameters: given }), ...(strict === true && { strict }) }
}

function messageOf({ role, parts, callId, isError }: Message): JsonObject {
  return {
    role,
    ...(callId !== undefined && { callId }),
    ...(isError && { isError }),
    parts: parts.filter((part) => part.type !== 'text' || part.text !== '').map(partOf),
  }
}

/** Messages by number, so that differences can be located. */
export function asking(request: ChatRequest): JsonObject {
  const { model: _, messages, tools = [], extra: __, wording: ___, ...rest } = request
  const asked: JsonObject = {}
  for (const [at, message] of messages.entries()) asked[`message ${at}`] = messageOf(message)
  for (const tool of tools) asked[`tool ${'name' in tool ? tool.name : ''}`] = toolOf(tool)
  return { ...asked, ...(JSON.parse(JSON.stringify(rest)) as JsonObject) }
}
