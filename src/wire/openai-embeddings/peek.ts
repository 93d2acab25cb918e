// Validates an embeddings request on its bytes and finds what the gateway acts on.

import { placeOf } from '../json/names.ts'
import { type Body, modelOf, present, readBody } from '../openai/body.ts'
import { checkFields, integer, oneOf, type Rule, string, stringOf } from '../openai/rules.ts'
import { inputList, readInput } from '../openai/texts.ts'
import type { Peek } from '../request.ts'

const input = { name: 'input', maxItems: 2048 }
/** Types and ranges from OpenAI's embeddings API. */
const rules: ReadonlyMap<string, Rule> = new Map([
  ['encoding_format', oneOf('float', 'base64')],
  ['dimensions', integer(1)],
  ['user', string],
])

const inputLists = inputList(input, placeOf(['model', 'input', ...rules.keys()]))

function formatOf(body: Body): Peek['encodingFormat'] {
  const member = present(body, 'encoding_format')
  if (member === null) return 'float'
  return stringOf(body.bytes, member.start, member.end) === 'base64' ? 'base64' : 'float'
}

function read(body: Body): Peek {
  const { bytes, keys } = body
  const { model, modelSpan } = modelOf(body)
  const { holdsTokens } = readInput(body, input)
  checkFields(bytes, body.members, rules)
  return {
    body: bytes,
    model,
    modelSpan,
    stream: false,
    wantsUsage: false,
    streamOptionsSpan: null,
    bodyEnd: body.end,
    maxOutputTokens: null,
    choices: 1,
    imageParam: null,
    keys,
    encodingFormat: formatOf(body),
    tokenInput: holdsTokens,
  }
}

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekEmbeddings(body: Uint8Array): Peek {
  return readBody(body, inputLists, read)
}
