// Encodes rerank requests for Cohere, Jina and Voyage, and reads their replies (docs.cohere.com/reference/rerank,
// jina.ai/reranker, docs.voyageai.com/reference/reranker-api).

import type { Decoded, VendorList } from '../codec.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectOf } from '../json/value.ts'
import { plainTexts, promptUsage, readRanking, withoutList } from '../list/fields.ts'
import type { ListReply, ListRequest } from '../list/list.ts'

interface Form {
  readonly vendor: string
  readonly mostTexts: number
  /** The member with the number of results wanted. */
  readonly most: 'top_n' | 'top_k'
  /** The member of the reply that holds the ranking. */
  readonly list: 'results' | 'data'
  /** Whether the vendor returns texts unless told not to. */
  readonly sendsTexts: boolean
}

/** A larger count of searches is implausible: one search covers up to a hundred documents. */
const maxSearches = 1_000_000

const forms = {
  cohere: { vendor: 'Cohere', mostTexts: 1_000, most: 'top_n', list: 'results', sendsTexts: false },
  jina: { vendor: 'Jina', mostTexts: 1_000, most: 'top_n', list: 'results', sendsTexts: true },
  voyage: { vendor: 'Voyage', mostTexts: 1_000, most: 'top_k', list: 'data', sendsTexts: true },
} as const satisfies Readonly<Record<string, Form>>

function sideOf(form: Form): VendorList {
  return {
    encodeRequest: (request, model) => encodeRequest(form, request, model),
    readReply: (body, request) => readReply(form, body, request),
  }
}

function encodeRequest(form: Form, request: ListRequest, model: string): Decoded<JsonObject> {
  const value: JsonObject = {
    model,
    query: request.query ?? '',
    documents: plainTexts(request, form.vendor, form.mostTexts, 'documents'),
    ...(request.most !== undefined && { [form.most]: request.most }),
    // The texts are known from the request, and are put back from it.
    ...(form.sendsTexts && { return_documents: false }),
  }
  return { value, dropped: [] }
}

function readReply(form: Form, body: JsonValue, { texts, most }: ListRequest) {
  if (!isObject(body)) return { kind: 'unreadable', message: 'the reply is no object' } as const
  const { model, usage, meta } = body
  if (!Array.isArray(body[form.list])) return withoutList(body, form.list)
  const ranking = readRanking(body[form.list], texts.length)
  if (ranking === null) return { kind: 'unreadable', message: 'a result is malformed' } as const
  const counts = objectOf(usage)
  const searches = searchesIn(meta)
  const reply: ListReply = {
    model: typeof model === 'string' ? model : null,
    vectors: [],
    // Some servers rank every document, however many were asked for.
    ranking: ranking.slice(0, most),
    ...promptUsage(counts['total_tokens']),
    ...(searches !== null && { searches }),
  }
  return reply
}

/** Reads Cohere's `meta.billed_units.search_units`; null where it is missing or implausible. */
function searchesIn(meta: JsonValue | undefined): number | null {
  const billed = isObject(meta) ? meta['billed_units'] : undefined
  const count = isObject(billed) ? billed['search_units'] : undefined
  return typeof count === 'number' && count > 0 && count <= maxSearches ? count : null
}

export const cohereRerank = sideOf(forms.cohere)
export const jinaRerank = sideOf(forms.jina)
export const voyageRerank = sideOf(forms.voyage)
