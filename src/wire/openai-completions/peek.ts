// Validates a text completion request on its bytes and finds what the gateway acts on.

import { invalidRequest } from '../../errors.ts'
import { type Body, modelOf, numberField, readBody, streamOf } from '../openai/body.ts'
import { boundsOf, type OwnNames, requestPlace } from '../openai/priced.ts'
import {
  boolean,
  checkFields,
  integer,
  number,
  object,
  type Rule,
  stop,
  string,
  wholeNumber,
} from '../openai/rules.ts'
import { inputList, readInput } from '../openai/texts.ts'
import type { Peek } from '../request.ts'

/** Types and ranges from OpenAI's API of text completions. */
const rules: ReadonlyMap<string, Rule> = new Map([
  ['stream', boolean],
  ['stream_options', object],
  ['suffix', string],
  ['max_tokens', integer(0)],
  ['temperature', number(0, 2)],
  ['top_p', number(0, 1)],
  ['n', integer(1, 128)],
  ['best_of', integer(0, 20)],
  ['logprobs', integer(0, 5)],
  ['echo', boolean],
  ['stop', stop],
  ['presence_penalty', number(-2, 2)],
  ['frequency_penalty', number(-2, 2)],
  ['logit_bias', object],
  ['seed', wholeNumber],
  ['user', string],
])

const prompt = { name: 'prompt', maxItems: null }
const promptList = inputList(prompt, requestPlace(rules, ['prompt']))
const own: OwnNames = { limits: ['max_tokens'], counts: ['n', 'best_of'] }

/** The vendor generates `best_of` completions and returns the best `n`, which is impossible in a stream. */
function checkBestOf(body: Body, choices: number, stream: boolean): void {
  const bestOf = numberField(body, 'best_of')
  if (bestOf === null || bestOf === 0) return
  if (bestOf < choices) throw invalidRequest('best_of must be at least n', 'best_of')
  if (stream && bestOf > 1) {
    throw invalidRequest('best_of is not allowed when stream is true', 'best_of')
  }
}

function read(body: Body): Peek {
  const { bytes, keys } = body
  const { model, modelSpan } = modelOf(body)
  const { holdsTokens, items } = readInput(body, prompt)
  checkFields(bytes, body.members, rules)
  const { stream, wantsUsage, streamOptionsSpan } = streamOf(body)
  checkBestOf(body, numberField(body, 'n') ?? 1, stream)
  const { choices, ...bounds } = boundsOf(body, own)
  return {
    body: bytes,
    model,
    modelSpan,
    stream,
    wantsUsage,
    streamOptionsSpan,
    bodyEnd: body.end,
    ...bounds,
    choices: choices * items,
    dropped: body.dropped,
    imageParam: null,
    keys,
    encodingFormat: 'float',
    tokenInput: holdsTokens,
  }
}

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekCompletions(body: Uint8Array): Peek {
  return readBody(body, promptList, read)
}
