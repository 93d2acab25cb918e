// Reranking as Cohere, Jina and Voyage take and give it (docs.cohere.com/reference/rerank, jina.ai/reranker, docs.voyageai.com/reference/reranker-api).

import type { Decoded, VendorList } from '../codec.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectOf } from '../json/value.ts'
import { plainTexts, promptUsage, readRanking, withoutList } from '../list/fields.ts'
import type { ListReply, ListRequest } from '../list/list.ts'

interface Form {
  readonly vendor: string
  readonly mostTexts: number
  /** How the number of wanted results is called. */
  readonly most: 'top_n' | 'top_k'
  /** Where the ranking stands. */
  readonly list: 'results' | 'data'
  /** Whether texts are left out of the reply only where that is said. */
  readonly sendsTexts: boolean
}

/** More is not believed: a search is up to a hundred documents. */
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
    // The texts are known here: they are put back from the request.
    ...(form.sendsTexts && { return_documents: false }),
  }
  return { value, dropped: [] }
}

function readReply(form: Form, body: JsonValue, { texts }: ListRequest) {
  if (!isObject(body)) return { kind: 'unreadable', message: 'the reply is no object' } as const
  const { model, usage, meta } = body
  if (!Array.isArray(body[form.list])) return withoutList(body, form.list)
  const ranking = readRanking(body[form.list], texts.length)
  if (ranking === null) return { kind: 'unreadable', message: 'a result is none' } as const
  const counts = objectOf(usage)
  const searches = searchesIn(meta)
  const reply: ListReply = {
    model: typeof model === 'string' ? model : null,
    vectors: [],
    ranking,
    ...promptUsage(counts['total_tokens']),
    ...(searches !== null && { searches }),
  }
  return reply
}

/** `meta.billed_units.search_units` of Cohere's; null where there is none. */
function searchesIn(meta: JsonValue | undefined): number | null {
  const billed = isObject(meta) ? meta['billed_units'] : undefined
  const count = isObject(billed) ? billed['search_units'] : undefined
  return typeof count === 'number' && count > 0 && count <= maxSearches ? count : null
}

export const cohereRerank = sideOf(forms.cohere)
export const jinaRerank = sideOf(forms.jina)
export const voyageRerank = sideOf(forms.voyage)
