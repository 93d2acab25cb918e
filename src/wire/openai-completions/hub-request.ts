// Decodes a legacy completion request as a chat of one message, and encodes one for models that only complete.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../codec.ts'
import { droppedFields, refuseUnsupported, supportedFields } from '../hub/dropped-fields.ts'
import type { ChatRequest, JsonObject, JsonValue, Message } from '../ir.ts'
import { present } from '../openai-chat/hub-fields.ts'
import { takeSampling, writeSampling } from '../openai-chat/hub-sampling.ts'

function refusal(what: string, param: string): Error {
  return invalidRequest(`${what}: this model only chats; use /v1/chat/completions`, param)
}

function promptOf(prompt: JsonValue | undefined): string {
  if (typeof prompt === 'string') return prompt
  if (!Array.isArray(prompt)) {
    throw invalidRequest('prompt must be a string or an array', 'prompt')
  }
  const [only] = prompt
  if (prompt.some((item) => typeof item === 'number' || Array.isArray(item))) {
    throw refusal('prompt must be text and not tokens', 'prompt')
  }
  if (prompt.length !== 1 || typeof only !== 'string') {
    throw refusal('prompt must be one single text', 'prompt')
  }
  return only
}

/** Throws for fields that have no meaning for a model that answers instead of continuing a text. */
function refuseContinuing(rest: JsonObject): void {
  const { suffix, echo, best_of: best, logprobs, n } = rest
  if (suffix !== undefined && suffix !== '') throw refusal('suffix is not supported', 'suffix')
  if (echo !== undefined && echo !== false) throw refusal('echo is not supported', 'echo')
  if (typeof best === 'number' && best > (typeof n === 'number' ? n : 1)) {
    throw refusal('best_of must not be above n', 'best_of')
  }
  if (logprobs !== undefined) throw refusal('logprobs is not supported', 'logprobs')
}

/** Throws GatewayError `invalid_request_error` naming the field that a chat cannot honour. */
export function decodeRequest(body: JsonObject): Decoded<ChatRequest> {
  const rest = present(body)
  const { model, prompt, stream, max_tokens: limit } = rest
  if (typeof model !== 'string') throw invalidRequest('model must be a string', 'model')
  refuseContinuing(rest)
  const message: Message = { role: 'user', parts: [{ type: 'text', text: promptOf(prompt) }] }
  const sampling = takeSampling(rest)
  const used = ['model', 'prompt', 'stream', 'stream_options', 'suffix', 'echo', 'best_of']
  for (const name of used) delete rest[name]
  if (typeof limit === 'number') delete rest['max_tokens']
  const value: ChatRequest = {
    model,
    messages: [message],
    stream: stream === true,
    ...(typeof limit === 'number' && { maxOutputTokens: limit }),
    ...sampling,
  }
  return { value, dropped: Object.keys(rest) }
}

/** OpenAI's limit on the number of `stop` texts. */
const maxStops = 4

/** Hub fields that this format expresses or refuses by name, or (`topK`) that sampling reports as dropped. */
const supported = supportedFields(
  'topK',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'logitBias',
  'user',
)

/** Throws GatewayError where the chat is more than a single user text, or asks for more than text. */
export function encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject> {
  const [message, ...more] = request.messages
  const [part, ...others] = message?.parts ?? []
  const single = more.length === 0 && others.length === 0 && message?.role === 'user'
  if (!single || part?.type !== 'text') {
    throw invalidRequest(
      'messages must be one single text of the user: this model only completes text',
      'messages',
    )
  }
  if (request.tools !== undefined) {
    throw invalidRequest('tools cannot be used: this model only completes text', 'tools')
  }
  if (request.responseFormat !== undefined && request.responseFormat.type !== 'text') {
    const what = 'response_format cannot be used: this model only completes text'
    throw invalidRequest(what, 'response_format')
  }
  refuseUnsupported({ ...request, choices: 1 }, maxStops)
  const { top_k: topK, ...sampling } = writeSampling(request)
  const body: JsonObject = {
    model,
    prompt: part.text,
    ...sampling,
    ...(request.maxOutputTokens !== undefined && { max_tokens: request.maxOutputTokens }),
    ...(request.stream && { stream: true }),
  }
  const dropped = droppedFields(request, 'openai-completions', supported)
  if (topK !== undefined) dropped.push('top_k')
  if (part.cache !== undefined) dropped.push('messages[0].content[0].cache_control')
  return { value: body, dropped }
}
