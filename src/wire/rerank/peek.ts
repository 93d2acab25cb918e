// Validates a rerank request on its bytes, with the fields that Cohere's and Jina's formats share.

import { invalidRequest } from '../../errors.ts'
import { placeOf } from '../json/names.ts'
import { ElementScan, kindAt } from '../json/scan.ts'
import { type Body, type Inside, modelOf, present, readBody } from '../openai/body.ts'
import { boolean, checkFields, integer, type Rule, string } from '../openai/rules.ts'
import type { Peek } from '../request.ts'

/** The names a format uses for the query and for the documents to rank. */
interface RankingForm {
  readonly query: string
  readonly documents: string
  /** Rules of the members other than the documents. */
  readonly rules: ReadonlyMap<string, Rule>
  /** Accepts a single document in place of a list. */
  readonly alone?: true
}

/** Cohere's limit; a larger request would be slower than two requests. */
const maxDocuments = 1_000
/** Cohere's search covers a hundred documents; one of more than 500 tokens counts as several (Cohere, "Rerank"). */
const documentsPerSearch = 100
const bytesPerDocument = 1_500
/** Number of documents, as Cohere counts them, in the last list that was checked. */
let countedDocuments = 0
const list = new ElementScan()

/** Checks the list; gives the offset after it. Throws GatewayError naming the document at fault. */
function checkDocuments(bytes: Uint8Array, start: number, key: string): number {
  list.open(bytes, start)
  countedDocuments = 0
  while (list.next()) {
    const kind = kindAt(bytes, list.value)
    const param = `${key}[${list.count - 1}]`
    if (kind !== 'string' && kind !== 'object')
      throw invalidRequest(`${param} must be a string or an object with a text`, param)
    countedDocuments += Math.ceil((list.skip() - list.value) / bytesPerDocument)
  }
  if (list.count === 0) throw invalidRequest(`${key} must not be empty`, key)
  if (list.count > maxDocuments) throw invalidRequest(`${key} must be at most ${maxDocuments}`, key)
  return list.at
}

function read(body: Body, { query, documents, rules, alone }: RankingForm): Peek {
  const { bytes, keys } = body
  const { model, modelSpan } = modelOf(body)
  checkFields(bytes, body.members, rules)
  for (const name of [query, documents])
    if (present(body, name) === null) throw invalidRequest(`${name} is required`, name)
  const given = present(body, documents)
  // A list was already checked during the pass over the body.
  if (given?.kind === 'string' && alone === true)
    countedDocuments = Math.ceil((given.end - given.start) / bytesPerDocument)
  else if (given?.kind !== 'array')
    throw invalidRequest(`${documents} must be ${alone ? 'a string or ' : ''}an array`, documents)
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

/** Gives a peek function, which throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekRanking(form: RankingForm): (body: Uint8Array) => Peek {
  const { documents: key, rules } = form
  const inside: Inside = {
    key,
    visit: (bytes, start) => checkDocuments(bytes, start, key),
    names: placeOf(['model', key, ...rules.keys()]),
  }
  return (bytes) => readBody(bytes, inside, (body) => read(body, form))
}

export const peekRerank = peekRanking({
  query: 'query',
  documents: 'documents',
  rules: new Map([
    ['query', string],
    ['top_n', integer(1)],
    ['return_documents', boolean],
    ['max_tokens_per_doc', integer(1)],
  ]),
})
