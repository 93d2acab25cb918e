// Encodes hub tools, and which of them may be called, for Gemini.

import { invalidRequest } from '../../errors.ts'
import type { ChatRequest, JsonObject, Tool } from '../ir.ts'
import { ownFields } from './fields.ts'
import type { Encoding } from './models.ts'
import { asksNothing, schemaOf } from './schema.ts'

type FunctionTool = Extract<Tool, { readonly type: 'function' }>

interface Offered {
  readonly tools?: JsonObject[]
  readonly toolConfig?: JsonObject
}

export function encodeTools(request: ChatRequest, encoding: Encoding): Offered {
  const { dropped } = encoding
  const { tools = [], toolChoice: choice } = request
  const functions: JsonObject[] = []
  const others: JsonObject[] = []
  let strict = false
  for (const [at, tool] of tools.entries()) {
    const path = `tools[${at}]`
    if (tool.type === 'other') {
      const own = tool.extra['gemini']
      if (own === undefined) {
        throw invalidRequest(`${path} is a tool that only the vendor who defines it can run`, path)
      }
      others.push(own)
      continue
    }
    if (tool.type === 'custom') {
      throw invalidRequest(`${path} is a custom tool, which this model does not know`, path)
    }
    if (tool.cache !== undefined) dropped.push(`${path}.cache_control`)
    if (choice?.mode === 'allowed' && !choice.names.includes(tool.name)) continue
    if (tool.strict === true) {
      if (encoding.traits.jsonSchema) strict = true
      else dropped.push(`${path}.function.strict`)
    }
    functions.push(declarationOf(tool, encoding))
  }
  if (request.parallelToolCalls === false && functions.length > 0) {
    dropped.push('parallel_tool_calls')
  }
  const calling = callingOf(request, functions.length > 0, strict)
  const list = functions.length > 0 ? [{ functionDeclarations: functions }, ...others] : others
  return {
    ...(list.length > 0 && { tools: list }),
    ...(calling !== null && { toolConfig: { functionCallingConfig: calling } }),
  }
}

function declarationOf(tool: FunctionTool, { traits }: Encoding): JsonObject {
  const { name, description, parameters } = tool
  const { $schema: _, ...schema } = parameters ?? {}
  return {
    name,
    ...(description !== undefined && { description }),
    ...(!asksNothing(schema) &&
      (traits.jsonSchema ? { parametersJsonSchema: schema } : { parameters: schemaOf(schema) })),
    ...ownFields(tool.extra),
  }
}

/** Null where Google's default is what is asked. `strict` tools need a mode that enforces their schema. */
function callingOf(
  { toolChoice: choice }: ChatRequest,
  any: boolean,
  strict: boolean,
): JsonObject | null {
  if (!any) {
    if (choice?.mode === 'required' || choice?.mode === 'tool') {
      throw invalidRequest('tool_choice asks for a call, but there are no tools', 'tool_choice')
    }
    return null
  }
  const free = strict ? 'VALIDATED' : 'AUTO'
  switch (choice?.mode) {
    case undefined:
      return strict ? { mode: 'VALIDATED' } : null
    case 'none':
      return { mode: 'NONE' }
    case 'auto':
      return { mode: free }
    case 'required':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed':
      // With a free choice the format cannot restrict the tools, so that those not allowed are not offered.
      return choice.required
        ? { mode: 'ANY', allowedFunctionNames: [...choice.names] }
        : { mode: free }
  }
}
