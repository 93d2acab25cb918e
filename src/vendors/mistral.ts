// Mistral: content in parts, tool call ids of nine characters, and errors for every member it does not know.

import type { Fault } from '../errors.ts'
import type { JsonObject } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import {
  type Amendment,
  amendments,
  developerAsSystem,
  dropped,
  maxTokensOnly,
  messagesOf,
  renamed,
  unnamed,
} from './amendments.ts'
import { chatAndEmbeddings, openaiCompatible } from './compatible.ts'
import { thinking } from './efforts.ts'
import { identifier } from './hash.ts'
import { lazyAdapter } from './media.ts'
import { voxtral } from './mistral-transcripts.ts'
import { hasCalls, withCallIds, withoutReplyMembers } from './sent-back.ts'
import { count, detail, withCached, withSound } from './usage.ts'
import type { Vendor } from './vendor.ts'

const voxtralSpeech = lazyAdapter(async () => (await import('./mistral-speech.ts')).voxtralSpeech)

const nativeId = /^[a-zA-Z0-9]{9}$/

/** Tool call ids must be nine letters or digits: others are hashed, so that a call and its result still match. */
const toolCallIds: Amendment = {
  texts: ['"tool_calls"', '"tool_call_id"'],
  apply: withCallIds((id) => (nativeId.test(id) ? id : identifier(id).slice(0, 9))),
}

/** "Assistant message must have either content or tool_calls": one of thoughts alone has neither. */
const withoutEmpty: Amendment = {
  texts: ['"assistant"'],
  apply(body) {
    const messages = messagesOf(body)
    if (messages.some(isEmpty)) body.messages = messages.filter((message) => !isEmpty(message))
  },
}

function isEmpty(message: JsonObject): boolean {
  return message.role === 'assistant' && !message.content && !hasCalls(message)
}

const bridge = 'I have read the results.'

/**
 * After results of tools Mistral takes only an answer ("Unexpected role 'user' after role 'tool'", code 3230), while
 * agents put reminders there. An answer that the model is to continue must say so ("Assistant with prefix True").
 */
const order: Amendment = {
  texts: ['"tool"', '"assistant"'],
  apply(body) {
    const messages = messagesOf(body)
    const last = messages.at(-1)
    if (last?.role === 'assistant' && !hasCalls(last)) last.prefix = true
    if (!messages.some((_, at) => isEarly(messages, at))) return
    body.messages = messages.flatMap((message, at) =>
      isEarly(messages, at) ? [{ role: 'assistant', content: bridge }, message] : [message],
    )
  },
}

function isEarly(messages: readonly JsonObject[], at: number): boolean {
  const role = messages[at]?.role
  return messages[at - 1]?.role === 'tool' && role !== 'tool' && role !== 'assistant'
}

/** Mistral takes a file by its bytes as a document, and one by its id beside the type (API reference, `FileChunk`). */
function documentOf(part: JsonObject): JsonObject {
  const { file } = part
  if (part.type !== 'file' || !isObject(file)) return part
  const { file_data: data, file_id: id, filename } = file
  if (typeof data !== 'string') return typeof id === 'string' ? { type: 'file', file_id: id } : part
  const url = /^(data|https?):/i.test(data) ? data : `data:application/pdf;base64,${data}`
  const named = typeof filename === 'string' ? { document_name: filename } : {}
  return { type: 'document_url', document_url: url, ...named }
}

const files: Amendment = {
  texts: ['"file"'],
  apply(body) {
    for (const message of messagesOf(body)) {
      if (!Array.isArray(message.content)) continue
      message.content = message.content.map((part) => (isObject(part) ? documentOf(part) : part))
    }
  },
}

const requiredAsAny: Amendment = {
  keys: ['tool_choice'],
  apply(body) {
    if (body.tool_choice === 'required') body.tool_choice = 'any'
  },
}

/** Mistral always returns embeddings as floats; the reply is converted to the form the client asked for. */
const embeddings: Amendment = {
  keys: ['dimensions', 'encoding_format'],
  apply(body, call, options) {
    if (call.dialect !== 'openai-embeddings') return
    renamed('dimensions', 'output_dimension').apply(body, call, options)
    delete body.encoding_format
  },
}

/** Not among its parameters (mistralai, `ChatCompletionRequest`), and answered with 422. */
const refused = ['logit_bias', 'verbosity']
/** Small 4 and Medium 3.5, the models whose effort may be chosen (Mistral, "Reasoning"); others answer it with 422. */
const thinkers = /^mistral-(small-(latest|4|2603)|medium-(3[.-]5|2604))/

function cachedTokens(usage: JsonObject): JsonObject {
  const cached =
    count(usage.num_cached_tokens) || detail(usage, 'prompt_token_details', 'cached_tokens')
  return withCached(usage, cached)
}

/** Mistral answers an unknown model with 400. */
function refine(fault: Fault, _status: number, body: string): Fault {
  return /"type":\s*"invalid_model"/.test(body) ? { ...fault, kind: 'unknown_model' } : fault
}

export const mistral = openaiCompatible({
  id: 'mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  environment: 'MISTRAL_API_KEY',
  speaks: [...chatAndEmbeddings, 'openai-transcriptions', 'openai-speech', 'openai-moderations'],
  quirks: {
    usageOnStream: 'always',
    parameters: thinking(
      { name: thinkers, efforts: ['none', 'high'], refused },
      { name: /./, efforts: [], refused },
    ),
    amend: amendments(
      maxTokensOnly,
      renamed('seed', 'random_seed'),
      dropped('stream_options', 'store', 'user', 'safety_identifier', 'service_tier'),
      requiredAsAny,
      embeddings,
      developerAsSystem,
      toolCallIds,
      withoutReplyMembers,
      withoutEmpty,
      unnamed,
      files,
      order,
    ),
    refine,
    rewrite: true,
    usage: (usage) => cachedTokens(withSound(usage)),
  },
  adapters: { 'openai-transcriptions': voxtral, 'openai-speech': voxtralSpeech },
}) satisfies Vendor
