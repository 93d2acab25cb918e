// Sampling fields that OpenAI's chat and completion formats spell alike.

import { shortUser } from '../hub/short-user.ts'
import type { ChatRequest, JsonObject } from '../ir.ts'
import { isObject } from '../json/value.ts'

const numbers = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['n', 'choices'],
  ['seed', 'seed'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['presence_penalty', 'presencePenalty'],
] as const

type SamplingField = (typeof numbers)[number][1] | 'stop' | 'logitBias' | 'user'
type Sampling = Pick<ChatRequest, SamplingField>

/** Takes the sampling fields out of `rest`; a field of an unexpected type stays there. */
export function takeSampling(rest: JsonObject): Sampling {
  const found: { -readonly [Field in SamplingField]?: Sampling[Field] & {} } = {}
  for (const [name, field] of numbers) {
    const value = rest[name]
    if (typeof value !== 'number') continue
    found[field] = value
    delete rest[name]
  }
  const { stop, logit_bias: logitBias, user } = rest
  const stops = typeof stop === 'string' ? [stop] : stop
  if (Array.isArray(stops) && stops.every((text) => typeof text === 'string')) {
    found.stop = stops
    delete rest['stop']
  }
  if (isObject(logitBias)) {
    found.logitBias = logitBias
    delete rest['logit_bias']
  }
  if (typeof user === 'string') {
    found.user = user
    delete rest['user']
  }
  return found
}

export function writeSampling(request: Sampling): JsonObject {
  const body: JsonObject = {}
  for (const [name, field] of numbers) if (request[field] !== undefined) body[name] = request[field]
  if (request.stop !== undefined) body['stop'] = [...request.stop]
  if (request.logitBias !== undefined) body['logit_bias'] = request.logitBias
  if (request.user !== undefined) body['user'] = shortUser(request.user)
  return body
}
