// Decodes a Gemini request into the hub; what the hub has no field for is kept and returns to this format alone.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../codec.ts'
import type {
  ChatRequest,
  Effort,
  JsonObject,
  JsonValue,
  Reasoning,
  ResponseFormat,
} from '../ir.ts'
import { isObject, stringOf, stringsIn } from '../json/value.ts'
import type { Address } from '../request.ts'
import { decodeContents, decodeSystem } from './decode-contents.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'
import { membersOf, numberOf, repeated, withExtra } from './fields.ts'
import { jsonSchemaOf } from './json-schema.ts'

type Taken = { -readonly [Field in keyof ChatRequest]?: ChatRequest[Field] & {} }

const numbers = [
  ['temperature', 'temperature'],
  ['topP', 'topP'],
  ['topK', 'topK'],
  ['candidateCount', 'choices'],
  ['maxOutputTokens', 'maxOutputTokens'],
  ['seed', 'seed'],
  ['presencePenalty', 'presencePenalty'],
  ['frequencyPenalty', 'frequencyPenalty'],
] as const

/** Maps `thinkingLevel` to an effort. */
const efforts: ReadonlyMap<string, Effort> = new Map(
  Object.entries({
    minimal: 'minimal',
    low: 'low',
    medium: 'medium',
    high: 'high',
  }),
)

function take(config: JsonObject, name: string): JsonValue | undefined {
  const value = config[name]
  delete config[name]
  return value
}

/** Takes the settings that the hub has fields for out of `config`. */
function takeGeneration(config: JsonObject): Taken {
  const found: Taken = {}
  for (const [name, field] of numbers) {
    const value = numberOf(config[name])
    if (value === null) continue
    found[field] = value
    delete config[name]
  }
  const stop = stringsIn(repeated(config['stopSequences']))
  delete config['stopSequences']
  if (stop.length > 0) found.stop = stop
  if (config['responseLogprobs'] === true) found.logprobs = numberOf(config['logprobs']) ?? 0
  delete config['responseLogprobs']
  delete config['logprobs']
  const modalities = stringsIn(repeated(take(config, 'responseModalities'))).map((word) =>
    word.toLowerCase(),
  )
  if (modalities.length > 0) found.modalities = modalities
  const format = takeFormat(config)
  if (format !== null) found.responseFormat = format
  const reasoning = takeReasoning(config)
  if (reasoning !== null) found.reasoning = reasoning
  return found
}

function takeFormat(config: JsonObject): ResponseFormat | null {
  const type = stringOf(config['responseMimeType'])
  if (type !== 'application/json') {
    if (type !== 'text/plain') return null
    delete config['responseMimeType']
    return { type: 'text' }
  }
  delete config['responseMimeType']
  const own = take(config, 'responseSchema')
  const real = take(config, 'responseJsonSchema') ?? take(config, '_responseJsonSchema')
  const schema = isObject(real) ? real : isObject(own) ? jsonSchemaOf(own) : null
  return schema === null ? { type: 'json' } : { type: 'schema', name: 'response', schema }
}

function takeReasoning(config: JsonObject): Reasoning | null {
  const value = take(config, 'thinkingConfig')
  if (!isObject(value)) return null
  const { thinkingBudget, thinkingLevel, includeThoughts } = membersOf(value)
  const budget = numberOf(thinkingBudget)
  const effort = budget === 0 ? 'none' : efforts.get(stringOf(thinkingLevel).toLowerCase())
  return {
    ...(effort !== undefined && { effort }),
    ...(budget !== null && budget > 0 && { budgetTokens: budget }),
    ...(budget !== null && budget < 0 && { adaptive: true as const }),
    ...(typeof includeThoughts === 'boolean' && { show: includeThoughts ? 'auto' : 'none' }),
  }
}

/** Private members of the body, and of `generationConfig` with that prefix: if dropped, clients see these names. */
function privateFields(rest: JsonObject, config: JsonObject): JsonObject {
  const fields: JsonObject = { ...rest }
  for (const name in config) fields[`generationConfig.${name}`] = config[name]
  return fields
}

/** Model and stream are in the URL. Null counts as absent; members may have either spelling. */
export function decodeRequest(body: JsonObject, address: Address = {}): Decoded<ChatRequest> {
  const members = membersOf(body)
  const { contents, systemInstruction, tools, toolConfig, generationConfig, ...rest } = members
  const model = address.model ?? stringOf(rest['model']).replace(/^models\//, '')
  if (model === '') throw invalidRequest('the URL must name a model', 'model')
  if (rest['cachedContent'] !== undefined) {
    // It contains a part of the prompt and is stored with Google.
    throw invalidRequest(
      'cachedContent can be used only with a model that the vendor of the cache serves',
      'cachedContent',
    )
  }
  delete rest['model']
  const config = isObject(generationConfig) ? { ...membersOf(generationConfig) } : {}
  const choice = decodeToolChoice(toolConfig)
  Object.assign(rest, choice.rest)
  const known = takeGeneration(config)
  const offered = decodeTools(tools)
  const value: ChatRequest = {
    model,
    messages: [...decodeSystem(systemInstruction), ...decodeContents(contents)],
    stream: address.stream === true,
    ...known,
    ...(offered.length > 0 && { tools: offered }),
    ...(choice.choice !== null && { toolChoice: choice.choice }),
    ...withExtra(privateFields(rest, config)),
  }
  return { value, dropped: [] }
}
