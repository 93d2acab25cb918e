// Serves clients of Cohere's and Jina's rerank APIs, with one reply that both can read.

import type { ClientList, Decoded, WriterHead } from '../codec.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'
import type { ListReply, ListRequest } from '../list/list.ts'

const known: ReadonlySet<string> = new Set([
  'model',
  'query',
  'documents',
  'top_n',
  'return_documents',
])

/** The body was validated by `peekRerank`. */
function decodeRequest(body: JsonObject): Decoded<ListRequest> {
  const { model, query, documents, top_n: most, return_documents: withTexts } = body
  const value: ListRequest = {
    model: String(model),
    query: String(query),
    texts: Array.isArray(documents) ? documents.map(textOf) : [],
    withTexts: withTexts === true,
    ...(typeof most === 'number' && { most }),
  }
  const dropped = Object.keys(body).filter((name) => body[name] != null && !known.has(name))
  return { value, dropped }
}

export function textOf(document: JsonValue): string {
  return String(isObject(document) ? (document['text'] ?? '') : document)
}

/** `meta` is for Cohere's clients, `usage` for Jina's; each ignores the other. */
function writeReply(reply: ListReply, request: ListRequest, head: WriterHead): JsonObject {
  const { texts, withTexts } = request
  const tokens = reply.usage?.input
  return {
    id: head.id,
    model: reply.model ?? head.model,
    results: reply.ranking.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(withTexts === true && { document: { text: String(texts[index] ?? '') } }),
    })),
    meta: {
      api_version: { version: '2' },
      billed_units: {
        search_units: reply.searches ?? 1,
        ...(tokens !== undefined && { input_tokens: tokens }),
      },
    },
    ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  }
}

export const rerankList: ClientList = { decodeRequest, writeReply }
