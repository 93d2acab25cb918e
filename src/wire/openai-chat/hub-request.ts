// A chat completion request, into the hub and out of it. Private fields ride along and return.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../dialect.ts'
import type { ChatRequest, JsonObject } from '../ir.ts'
import { ownFields, present, withExtra } from './hub-fields.ts'
import { decodeMessage, encodeMessage } from './hub-messages.ts'
import { foreignFields, takeSampling, writeSampling } from './hub-sampling.ts'

/**
 * Takes either spelling of the token limit out of `rest`. The older one leaves its name behind, so that
 * it is given back under it: old servers know no other. Both at once: the newer one counts.
 */
function takeLimit(rest: JsonObject, dropped: string[]): { maxOutputTokens?: number } {
  const { max_completion_tokens: limit, max_tokens: older } = rest
  if (typeof limit === 'number') {
    delete rest['max_completion_tokens']
    if (older !== undefined) dropped.push('max_tokens')
    delete rest['max_tokens']
    return { maxOutputTokens: limit }
  }
  return typeof older === 'number' ? { maxOutputTokens: older } : {}
}

/** Null counts as absent. Whether usage comes on a stream is the relay's to ask: `stream_options` ends here. */
export function decodeRequest(body: JsonObject): Decoded<ChatRequest> {
  const rest = present(body)
  const dropped: string[] = []
  const { model, messages, stream } = rest
  if (typeof model !== 'string') throw invalidRequest('model must be a string', 'model')
  if (!Array.isArray(messages)) throw invalidRequest('messages must be an array', 'messages')
  for (const name of ['model', 'messages', 'stream', 'stream_options']) delete rest[name]
  const value: ChatRequest = {
    model,
    messages: messages.map(decodeMessage),
    stream: stream === true,
    ...takeLimit(rest, dropped),
    ...takeSampling(rest),
    ...withExtra(rest),
  }
  return { value, dropped }
}

/** `dropped` names what other dialects alone can say, and parts that are none of this one's. */
export function encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject> {
  const dropped = foreignFields(request, 'openai-chat')
  const body: JsonObject = {
    model,
    messages: request.messages.map((message, at) => encodeMessage(message, at, dropped)),
    ...ownFields(request.extra),
    ...writeSampling(request),
  }
  if (request.maxOutputTokens !== undefined) {
    const older = body['max_tokens'] !== undefined
    body[older ? 'max_tokens' : 'max_completion_tokens'] = request.maxOutputTokens
  }
  // OpenAI refuses an empty list, which some clients send for no tools.
  if (Array.isArray(body['tools']) && body['tools'].length === 0) delete body['tools']
  if (request.stream) body['stream'] = true
  return { value: body, dropped }
}
