// Judges a rerank request on its bytes: Cohere's fields and Jina's, which agree in what matters.

import { invalidRequest } from '../../errors.ts'
import { placeOf } from '../json/names.ts'
import { ElementScan, kindAt } from '../json/scan.ts'
import { type Body, type Inside, modelOf, present, readBody } from '../openai/body.ts'
import { boolean, checkFields, integer, type Rule, string } from '../openai/rules.ts'
import type { Peek } from '../request.ts'

const rules: ReadonlyMap<string, Rule> = new Map([
  ['query', string],
  ['top_n', integer(1)],
  ['return_documents', boolean],
  ['max_tokens_per_doc', integer(1)],
])

/** Cohere's bound; more in one request is slower than two requests. */
const maxDocuments = 1_000
/** A search of Cohere's is a hundred documents; one of more than 500 tokens counts as several. Cohere, "Rerank". */
const documentsPerSearch = 100
const bytesPerDocument = 1_500
/** Documents of the list gone through last, in Cohere's count. */
let countedDocuments = 0
const list = new ElementScan()
const documents: Inside = {
  key: 'documents',
  visit: checkDocuments,
  names: placeOf(['model', 'documents', ...rules.keys()]),
}

/** Gives the offset behind the list. Throws GatewayError naming the document at fault. */
function checkDocuments(bytes: Uint8Array, start: number): number {
  list.open(bytes, start)
  countedDocuments = 0
  while (list.next()) {
    const kind = kindAt(bytes, list.value)
    const param = `documents[${list.count - 1}]`
    if (kind !== 'string' && kind !== 'object')
      throw invalidRequest(`${param} must be a string or an object with a text`, param)
    countedDocuments += Math.ceil((list.skip() - list.value) / bytesPerDocument)
  }
  if (list.count === 0) throw invalidRequest('documents must not be empty', 'documents')
  if (list.count > maxDocuments)
    throw invalidRequest(`documents must be at most ${maxDocuments}`, 'documents')
  return list.at
}

function read(body: Body): Peek {
  const { bytes, keys } = body
  const { model, modelSpan } = modelOf(body)
  checkFields(bytes, body.members, rules)
  for (const name of ['query', 'documents'])
    if (present(body, name) === null) throw invalidRequest(`${name} is required`, name)
  // A list was gone through in the pass over the body.
  if (present(body, 'documents')?.kind !== 'array')
    throw invalidRequest('documents must be an array', 'documents')
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
    encodingFormat: 'float',
    tokenInput: false,
    units: { search: Math.ceil(countedDocuments / documentsPerSearch) },
  }
}

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekRerank(body: Uint8Array): Peek {
  return readBody(body, documents, read)
}
