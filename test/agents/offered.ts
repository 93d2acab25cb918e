// Reads the tools that a request offers, as strictly as its vendor would.

import type { OfferedTool } from './work.ts'

export type Body = Readonly<Record<string, unknown>>

const objects = (value: unknown): Body[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'object' && each !== null) : []
const object = (value: unknown): Body =>
  typeof value === 'object' && value !== null ? (value as Body) : {}

const namedBy = (tool: Body): OfferedTool => ({ name: String(tool['name']) })

/** The tools of a request in this format. */
export function offeredIn(format: string, body: Body): readonly OfferedTool[] {
  const tools = objects(body['tools'])
  switch (format) {
    case 'openai-responses': {
      const added = objects(body['input']).filter(({ type }) => type === 'additional_tools')
      return [...tools, ...added.flatMap((item) => objects(item['tools']))].flatMap(responsesTool)
    }
    case 'gemini':
      return tools.flatMap((tool) => objects(tool['functionDeclarations'])).map(namedBy)
    case 'bedrock-converse':
      return objects(object(body['toolConfig'])['tools']).map((tool) =>
        namedBy(object(tool['toolSpec'])),
      )
    case 'anthropic-messages':
      return tools.map(namedBy)
    default:
      return tools.map((tool) => namedBy(object(tool['function'])))
  }
}

function responsesTool(tool: Body): OfferedTool[] {
  if (tool['type'] === 'namespace') {
    const namespace = String(tool['name'])
    return objects(tool['tools'])
      .flatMap(responsesTool)
      .map((inner) => ({ ...inner, namespace }))
  }
  if (tool['type'] === 'custom') return [{ ...namedBy(tool), free: true }]
  return tool['type'] === 'function' ? [namedBy(tool)] : []
}

/** The rule that each vendor documents for a tool's name. */
const names: Readonly<Record<string, RegExp>> = {
  'openai-chat': /^[a-zA-Z0-9_-]{1,64}$/,
  'openai-responses': /^[a-zA-Z0-9_-]{1,128}$/,
  'anthropic-messages': /^[a-zA-Z0-9_-]{1,128}$/,
  gemini: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  'cohere-v2': /^[a-zA-Z0-9_-]{1,64}$/,
  'bedrock-converse': /^[a-zA-Z0-9_-]{1,64}$/,
}

/** Why the vendor would refuse the request; null if it would accept it. */
export function complaintOf(format: string, body: Body): string | null {
  const allowed = names[format]
  const offered = offeredIn(format, body)
  const unfit = offered.find(({ name }) => allowed?.test(name) !== true)
  if (unfit !== undefined) return `the tool's name ${unfit.name} is none`
  const keys = offered.map(({ name, namespace = '' }) => `${namespace} ${name}`)
  if (new Set(keys).size < keys.length) return `two tools have one name: ${keys.join(', ')}`
  const tools = objects(body['tools'])
  const typed = tools.find(({ type }) => type !== undefined && type !== 'function')
  if (format === 'openai-chat' || format === 'cohere-v2') {
    return typed === undefined ? null : `tools of type ${typed['type']} are not known`
  }
  if (format === 'anthropic-messages') {
    const bare = tools.find((tool) => tool['input_schema'] === undefined && tool['type'] == null)
    return bare === undefined ? null : `the tool ${bare['name']} has no input_schema`
  }
  return null
}
