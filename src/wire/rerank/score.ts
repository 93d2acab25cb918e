// Serves clients of the score API of vLLM and similar servers, which rates texts against one other text, by reranking.

import { type ClientList, type Decoded, UnfitReply, type WriterHead } from '../codec.ts'
import type { JsonObject } from '../ir.ts'
import { ElementScan, kindAt } from '../json/scan.ts'
import type { ListReply, ListRequest } from '../list/list.ts'
import type { Rule } from '../openai/rules.ts'
import { peekRanking } from './peek.ts'
import { textOf } from './rerank.ts'

const known: ReadonlySet<string> = new Set(['model', 'text_1', 'text_2'])
const list = new ElementScan()

/** Scoring two lists pair by pair would take one request per pair. */
const oneText: Rule = (bytes, start, _end, kind) => {
  const complaint = 'must be a string, or an array of one: every text of text_2 is scored for it'
  if (kind !== 'array') return kind === 'string' ? null : complaint
  list.open(bytes, start)
  const isText = list.next() && kindAt(bytes, list.value) === 'string'
  return isText && !list.next() ? null : complaint
}

export const peekScore = peekRanking({
  query: 'text_1',
  documents: 'text_2',
  rules: new Map([['text_1', oneText]]),
  alone: true,
})

/** The body was validated by `peekScore`. */
function decodeRequest(body: JsonObject): Decoded<ListRequest> {
  const { model, text_1: query, text_2: texts = [] } = body
  const value: ListRequest = {
    model: String(model),
    query: String(Array.isArray(query) ? query[0] : query),
    texts: (Array.isArray(texts) ? texts : [texts]).map(textOf),
  }
  const dropped = Object.keys(body).filter((name) => body[name] != null && !known.has(name))
  return { value, dropped }
}

/** Scores in the order of the texts (a ranking has the best first). Throws UnfitReply where a text has no score. */
function writeReply(reply: ListReply, { texts }: ListRequest, head: WriterHead): JsonObject {
  const scores = new Map(reply.ranking.map(({ index, score }) => [index, score]))
  const tokens = reply.usage?.input
  return {
    id: head.id,
    object: 'list',
    created: head.createdAt,
    model: reply.model ?? head.model,
    data: texts.map((_, index) => {
      const score = scores.get(index)
      if (score === undefined) throw new UnfitReply(`text_2[${index}] has no score`)
      return { index, object: 'score', score }
    }),
    ...(tokens !== undefined && {
      usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
    }),
  }
}

export const scoreList: ClientList = { decodeRequest, writeReply }
