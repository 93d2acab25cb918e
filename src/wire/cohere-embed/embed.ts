// Encodes embeddings requests for Cohere and reads its replies (docs.cohere.com/reference/embed, v2).

import type { Decoded, VendorList } from '../codec.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { plainTexts, promptUsage, withoutList } from '../list/fields.ts'
import type { ListReply, ListRequest } from '../list/list.ts'

const mostTexts = 96

function encodeRequest(request: ListRequest, model: string): Decoded<JsonObject> {
  const { dimensions, encoding = 'float', purpose = 'document', user } = request
  const value: JsonObject = {
    model,
    texts: plainTexts(request, 'Cohere', mostTexts, 'input'),
    // Cohere requires a type; what OpenAI's clients embed is mostly documents to be searched later.
    input_type: purpose === 'query' ? 'search_query' : 'search_document',
    embedding_types: [encoding],
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  }
  return { value, dropped: user === undefined ? [] : ['user'] }
}

/** The billed count, else the tokens read. */
function inputTokens(meta: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(meta)) return undefined
  const { billed_units: billed, tokens } = meta
  const billedTokens = isObject(billed) ? billed['input_tokens'] : undefined
  return billedTokens ?? (isObject(tokens) ? tokens['input_tokens'] : undefined)
}

function readReply(body: JsonValue, { encoding = 'float' }: ListRequest) {
  if (!isObject(body)) return { kind: 'unreadable', message: 'the reply is no object' } as const
  const { embeddings, meta } = body
  if (!isObject(embeddings)) return withoutList(body, 'embeddings')
  const list = embeddings[encoding] ?? embeddings['float'] ?? embeddings['base64']
  if (!Array.isArray(list)) return withoutList(body, 'embeddings')
  const reply: ListReply = {
    model: null,
    vectors: list as (string | number[])[],
    ranking: [],
    ...promptUsage(inputTokens(meta)),
  }
  return reply
}

export const cohereEmbed: VendorList = { encodeRequest, readReply }
