// What a request asks that a format lacks: named where it may be left out, refused where it may not.

import { invalidRequest } from '../../errors.ts'
import type { ChatRequest } from '../ir.ts'

/** Fields that hint, with the name clients know each by. */
const names = {
  topK: 'top_k',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  logitBias: 'logit_bias',
  user: 'user',
  logprobs: 'logprobs',
  verbosity: 'verbosity',
  serviceTier: 'service_tier',
  metadata: 'metadata',
  promptCacheKey: 'prompt_cache_key',
  cache: 'cache_control',
} as const satisfies Partial<Record<keyof ChatRequest, string>>

type HintField = keyof typeof names

/** The names of those of `fields` that the request has. */
export function unsupported(request: ChatRequest, fields: readonly HintField[]): string[] {
  return fields.filter((field) => request[field] !== undefined).map((field) => names[field])
}

/** For formats with one reply, of text alone, and at most `maxStops` stop texts. Throws GatewayError naming the field. */
export function refuseUnsupported(request: ChatRequest, maxStops: number): void {
  const { choices = 1, stop = [], modalities = [] } = request
  if (choices > 1) {
    throw invalidRequest('n: this model gives one reply to a request', 'n')
  }
  if (stop.length > maxStops) {
    throw invalidRequest(`stop may have at most ${maxStops} texts for this model`, 'stop')
  }
  const other = modalities.find((name) => name !== 'text')
  if (other !== undefined) {
    throw invalidRequest(`modalities: this model replies in text and not in ${other}`, 'modalities')
  }
}

/** `value` within the bounds a format knows; `name` goes to `dropped` where it had to be moved there. */
export function clamped(
  value: number,
  [least, most]: readonly [number, number],
  name: string,
  dropped: string[],
): number {
  if (value >= least && value <= most) return value
  dropped.push(name)
  return value < least ? least : most
}
