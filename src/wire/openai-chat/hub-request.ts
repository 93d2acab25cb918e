// Decodes a chat completion request into the hub and encodes it from it; private fields pass through unchanged.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../codec.ts'
import { droppedFields } from '../hub/dropped-fields.ts'
import type { ChatRequest, JsonObject } from '../ir.ts'
import { hasFields, ownFields, present, withExtra } from './hub-fields.ts'
import { decodeMessages, encodeMessages } from './hub-messages.ts'
import {
  encodeOptions,
  supported,
  takeOptions,
  takeReasoning,
  takeResponseFormat,
} from './hub-options.ts'
import { takeSampling, writeSampling } from './hub-sampling.ts'
import { encodeTools, takeToolChoice, takeTools } from './hub-tools.ts'

/** OpenAI's limit on the number of `stop` texts. */
const maxStops = 4

/**
 * Takes the token limit out of `rest` in either spelling. The older name is remembered in `wording`, so that the
 * limit goes out under it again: old servers know no other. If both are present, the newer one counts.
 */
function takeLimit(
  rest: JsonObject,
  wording: JsonObject,
  dropped: string[],
): { maxOutputTokens?: number } {
  const { max_completion_tokens: limit, max_tokens: older } = rest
  if (typeof limit === 'number') {
    delete rest['max_completion_tokens']
    if (older !== undefined) dropped.push('max_tokens')
    delete rest['max_tokens']
    return { maxOutputTokens: limit }
  }
  if (typeof older !== 'number') return {}
  wording['max_tokens'] = older
  delete rest['max_tokens']
  return { maxOutputTokens: older }
}

/** Null counts as absent. `stream_options` is dropped: the relay decides whether to ask for usage on a stream. */
export function decodeRequest(body: JsonObject): Decoded<ChatRequest> {
  const rest = present(body)
  const dropped: string[] = []
  const wording: JsonObject = {}
  const { model, messages, stream } = rest
  if (typeof model !== 'string') throw invalidRequest('model must be a string', 'model')
  if (!Array.isArray(messages)) throw invalidRequest('messages must be an array', 'messages')
  for (const name of ['model', 'messages', 'stream', 'stream_options']) delete rest[name]
  // OpenAI has no `top_k`, so it is sent only for clients that used it in this format.
  if (typeof rest['top_k'] === 'number') wording['top_k'] = rest['top_k']
  const value: ChatRequest = {
    model,
    messages: decodeMessages(messages),
    stream: stream === true,
    ...takeLimit(rest, wording, dropped),
    ...takeSampling(rest),
    ...takeTools(rest),
    ...takeToolChoice(rest, wording),
    ...takeReasoning(rest, wording),
    ...takeResponseFormat(rest, wording),
    ...takeOptions(rest, wording),
    ...withExtra(rest),
    ...(hasFields(wording) && { wording: { 'openai-chat': wording } }),
  }
  return { value, dropped }
}

/**
 * `dropped` names what only other dialects can express. Throws GatewayError for what must not be left out: see
 * `encodeMessages` and `encodeTools`.
 */
export function encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject> {
  const wording = ownFields(request.wording)
  const dropped = droppedFields(request, 'openai-chat', supported).filter(
    (name) => wording[name] === undefined,
  )
  if (request.stop !== undefined && request.stop.length > maxStops) {
    throw invalidRequest(`stop may have at most ${maxStops} texts for this model`, 'stop')
  }
  const { top_k: _, ...sampling } = writeSampling(request)
  const options = encodeOptions(request)
  // The client's vendor-specific wording already says it; an effort beside it would be a duplicate.
  const worded = wording['reasoning'] !== undefined || wording['thinking'] !== undefined
  if (worded) delete options['reasoning_effort']
  const body: JsonObject = {
    model,
    messages: encodeMessages(request.messages, dropped),
    ...ownFields(request.extra),
    ...sampling,
    ...encodeTools(request, wording, dropped),
    ...options,
    ...wording,
  }
  if (request.maxOutputTokens !== undefined && wording['max_tokens'] === undefined) {
    body['max_completion_tokens'] = request.maxOutputTokens
  }
  if (request.stream) body['stream'] = true
  return { value: body, dropped }
}
