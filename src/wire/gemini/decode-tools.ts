// Decodes tools of a Gemini request, and which of them may be called, into the hub.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject, JsonValue, Tool, ToolChoice } from '../ir.ts'
import { isObject, stringOf, stringsIn } from '../json/value.ts'
import { membersOf, repeated, withExtra } from './fields.ts'
import { jsonSchemaOf } from './json-schema.ts'

export function decodeTools(value: JsonValue | undefined): Tool[] {
  return repeated(value).flatMap((each, at) => {
    if (!isObject(each)) throw invalidRequest(`tools[${at}] must be an object`, `tools[${at}]`)
    const { functionDeclarations: declared, ...others } = membersOf(each)
    const functions = repeated(declared)
    return [
      ...functions.map((one, index) =>
        functionOf(one, `tools[${at}].functionDeclarations[${index}]`),
      ),
      // All other members are tools that the vendor runs itself.
      ...Object.entries(others).map(
        ([name, settings]): Tool => ({ type: 'other', extra: { gemini: { [name]: settings } } }),
      ),
    ]
  })
}

function functionOf(value: JsonValue, path: string): Tool {
  const declared = isObject(value) ? membersOf(value) : {}
  const name = stringOf(declared['name'])
  if (name === '') throw invalidRequest(`${path}.name must be a string`, `${path}.name`)
  const { name: _, description, parameters, parametersJsonSchema: real, ...rest } = declared
  const schema = isObject(real) ? real : isObject(parameters) ? jsonSchemaOf(parameters) : null
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    ...(schema !== null && { parameters: schema }),
    ...withExtra(rest),
  }
}

/** `rest` is what other formats cannot express, such as `retrievalConfig`. */
export function decodeToolChoice(value: JsonValue | undefined): {
  readonly choice: ToolChoice | null
  readonly rest: JsonObject
} {
  if (!isObject(value)) return { choice: null, rest: {} }
  const { functionCallingConfig: config, ...others } = membersOf(value)
  const rest: JsonObject = {}
  for (const name in others) rest[`toolConfig.${name}`] = others[name]
  if (!isObject(config)) return { choice: null, rest }
  const { mode, allowedFunctionNames, ...settings } = membersOf(config)
  for (const name in settings) rest[`toolConfig.functionCallingConfig.${name}`] = settings[name]
  const names = stringsIn(repeated(allowedFunctionNames))
  return { choice: choiceOf(stringOf(mode).toUpperCase(), names), rest }
}

function choiceOf(mode: string, names: readonly string[]): ToolChoice | null {
  const [only, ...more] = names
  switch (mode) {
    case 'NONE':
      return { mode: 'none' }
    case 'ANY':
      if (only === undefined) return { mode: 'required' }
      return more.length === 0
        ? { mode: 'tool', name: only }
        : { mode: 'allowed', names, required: true }
    case 'AUTO':
    case 'VALIDATED':
      return only === undefined ? { mode: 'auto' } : { mode: 'allowed', names, required: false }
    default:
      return null
  }
}
