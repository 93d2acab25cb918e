// Validates a chat completion request on its bytes and finds what the gateway acts on.

import { invalidRequest } from '../../errors.ts'
import { type Body, type Inside, modelOf, present, readBody, streamOf } from '../openai/body.ts'
import { boundsOf, type OwnNames, requestPlace } from '../openai/priced.ts'
import {
  boolean,
  checkFields,
  checkTools,
  integer,
  number,
  object,
  type Rule,
  stop,
  string,
  stringOrObject,
  typedObject,
  wholeNumber,
} from '../openai/rules.ts'
import type { Peek } from '../request.ts'
import { checkMessages, seen } from './messages.ts'

/** Types and ranges of OpenAI's chat API. `max_tokens: 0` passes: openai-python's own tests send it. */
const rules: ReadonlyMap<string, Rule> = new Map([
  ['stream', boolean],
  ['stream_options', object],
  ['temperature', number(0, 2)],
  ['top_p', number(0, 1)],
  ['n', integer(1, 128)],
  ['presence_penalty', number(-2, 2)],
  ['frequency_penalty', number(-2, 2)],
  ['max_tokens', integer(0)],
  ['max_completion_tokens', integer(0)],
  ['logprobs', boolean],
  ['top_logprobs', integer(0, 20)],
  ['stop', stop],
  ['seed', wholeNumber],
  ['logit_bias', object],
  ['tool_choice', stringOrObject],
  ['response_format', typedObject],
  ['parallel_tool_calls', boolean],
  ['user', string],
  ['metadata', object],
  ['reasoning_effort', string],
])

const messages: Inside = {
  key: 'messages',
  visit: checkMessages,
  names: requestPlace(rules, ['messages', 'tools']),
}
const own: OwnNames = { limits: ['max_completion_tokens', 'max_tokens'], counts: ['n'] }

/** Null: the body has `input` in place of messages, as one of the Responses format has. */
function read(body: Body): Peek | null {
  const { bytes, keys } = body
  const { model, modelSpan } = modelOf(body)
  const list = present(body, 'messages')
  if (list === null && present(body, 'input') !== null) return null
  if (list === null) throw invalidRequest('messages is required', 'messages')
  if (list.kind !== 'array') throw invalidRequest('messages must be an array', 'messages')
  checkFields(bytes, body.members, rules)
  const tools = present(body, 'tools')
  if (tools !== null) checkTools(bytes, tools)
  const { stream, wantsUsage, streamOptionsSpan } = streamOf(body)
  return {
    // Spread first, because that is cheapest here.
    ...boundsOf(body, own),
    body: bytes,
    model,
    modelSpan,
    stream,
    wantsUsage,
    streamOptionsSpan,
    bodyEnd: body.end,
    dropped: body.dropped,
    imageParam: seen.imageParam,
    attachments: seen.attachments,
    ...(seen.sentBack !== undefined && { sentBack: seen.sentBack }),
    keys,
    encodingFormat: 'float',
    tokenInput: false,
  }
}

/** Null for a body with `input` and without messages. Throws GatewayError naming the field at fault. */
export function peekMessages(body: Uint8Array): Peek | null {
  return readBody(body, messages, read)
}

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekChat(body: Uint8Array): Peek {
  const peek = peekMessages(body)
  if (peek === null) throw invalidRequest('messages is required', 'messages')
  return peek
}
