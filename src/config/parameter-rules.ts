// Which members of its requests a channel may change: not those the gateway owns, nor those that decide the cost
// unseen.

import {
  countNames,
  leastNames,
  limitNames,
  modelNames,
  placeNames,
  settingsNames,
  standardTiers,
  thoughtNames,
  tierNames,
} from './priced-names.ts'

/** Members that decide the request's content, its model and the form of the reply. */
const owned: ReadonlySet<string> = new Set([
  ...['model', 'modelId', 'stream', 'stream_options', 'streamOptions', 'encoding_format'],
  ...['messages', 'input', 'inputs', 'prompt', 'contents', 'query', 'documents', 'texts'],
  ...['system', 'systemInstruction', 'system_instruction', 'instructions'],
  ...['tools', 'functions', 'toolConfig', 'web_search_options', 'mcp_servers'],
  ...['store', 'background', 'conversation', 'previous_response_id'],
])
const priced: ReadonlySet<string> = new Set([
  ...countNames,
  ...leastNames,
  ...modelNames,
  ...placeNames,
  ...thoughtNames,
])
/** Length limits within nested objects, in Gemini's format and in Bedrock's. */
const deeperLimits = ['generationConfig.maxOutputTokens', 'inferenceConfig.maxTokens']

/** Whether the path is a limit on the reply's length. */
export function isLimit(path: string): boolean {
  return limitNames.includes(path) || deeperLimits.includes(path)
}

/**
 * Why a channel must not change a member, or not to `value`; null: it may. `value` is undefined where the channel
 * removes the member.
 */
export function refusedParameter(path: string, value: unknown): string | null {
  const [first = '', second] = path.split('.')
  const isSettings = settingsNames.includes(first)
  if (owned.has(first)) return 'cannot be changed: it belongs to the gateway'
  if (isSettings && second === undefined)
    return `name one of its fields, such as ${first}.temperature`
  // At a deeper level such a name means something else.
  const name = isSettings ? (second ?? '') : path
  if (priced.has(name) || (isSettings && settingsNames.includes(name)))
    return 'cannot be changed: it decides what a request may cost'
  if (isLimit(path)) {
    const isCount = Number.isSafeInteger(value) && Number(value) >= 1
    return value === undefined || isCount ? null : 'expected a whole number of at least 1'
  }
  if (limitNames.includes(name))
    return 'cannot be changed: set the limit by its name in this format'
  if (!tierNames.includes(name) || value === undefined) return null
  const isStandard = typeof value === 'string' && standardTiers.has(value)
  return isStandard ? null : 'expected a service tier without a price of its own'
}
