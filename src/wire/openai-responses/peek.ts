// Validates a Responses request on its bytes and finds what the gateway acts on.

import { invalidRequest } from '../../errors.ts'
import { join, splice } from '../json/splice.ts'
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
  string,
  stringOrObject,
} from '../openai/rules.ts'
import type { Peek } from '../request.ts'
import { checkInput, seen } from './input.ts'

/** Types and ranges of OpenAI's Responses API. An output limit below OpenAI's minimum of 16 passes: vendors differ. */
const rules: ReadonlyMap<string, Rule> = new Map([
  ['stream', boolean],
  ['stream_options', object],
  ['background', boolean],
  ['store', boolean],
  ['instructions', string],
  ['previous_response_id', string],
  ['conversation', stringOrObject],
  ['max_output_tokens', integer(0)],
  ['max_tool_calls', integer(0)],
  ['temperature', number(0, 2)],
  ['top_p', number(0, 1)],
  ['top_logprobs', integer(0, 20)],
  ['tool_choice', stringOrObject],
  ['parallel_tool_calls', boolean],
  ['reasoning', object],
  ['text', object],
  ['metadata', object],
  ['user', string],
])

const input: Inside = {
  key: 'input',
  visit: checkInput,
  names: requestPlace(rules, ['input', 'tools', 'include', 'truncation', 'prompt']),
}
const own: OwnNames = { limits: ['max_output_tokens'], counts: [] }

function read(body: Body): Peek {
  const { bytes, keys } = body
  const { model, modelSpan } = modelOf(body)
  const asked = present(body, 'input')
  if (asked !== null && asked.kind !== 'string' && asked.kind !== 'array') {
    throw invalidRequest('input must be a string or an array of items', 'input')
  }
  if (asked === null && present(body, 'messages') !== null) {
    const message =
      'messages is not known to /v1/responses: send input, or use /v1/chat/completions'
    throw invalidRequest(message, 'messages')
  }
  checkFields(bytes, body.members, rules)
  const tools = present(body, 'tools')
  if (tools !== null) checkTools(bytes, tools)
  const { stream, streamOptionsSpan } = streamOf(body)
  return {
    body: bytes,
    model,
    modelSpan,
    stream,
    // Every stream of this format reports usage.
    wantsUsage: true,
    streamOptionsSpan,
    bodyEnd: body.end,
    ...boundsOf(body, own),
    dropped: body.dropped,
    imageParam: asked?.kind === 'array' ? seen.imageParam : null,
    attachments: asked?.kind === 'array' ? seen.attachments : undefined,
    ...(asked?.kind === 'array' && seen.thoughts !== undefined && { thoughts: seen.thoughts }),
    ...(asked?.kind === 'array' && seen.hasLongId && { sentBack: 'foreign' as const }),
    keys,
    encodingFormat: 'float',
    tokenInput: false,
  }
}

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekResponses(body: Uint8Array): Peek {
  seen.untyped = []
  const peek = readBody(body, input, read)
  if (seen.untyped.length === 0) return peek
  const { dropped = [] } = peek
  return { ...readBody(join(splice(peek.body, seen.untyped)), input, read), dropped }
}
