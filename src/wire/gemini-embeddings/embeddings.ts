// Encodes embeddings requests for Google and reads its replies (ai.google.dev/api/embeddings, batchEmbedContents).

import type { Decoded, VendorList } from '../codec.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { plainTexts, promptUsage, withoutList } from '../list/fields.ts'
import type { ListReply, ListRequest } from '../list/list.ts'

const mostTexts = 100
const taskTypes = { query: 'RETRIEVAL_QUERY', document: 'RETRIEVAL_DOCUMENT' } as const

function encodeRequest(request: ListRequest, model: string): Decoded<JsonObject> {
  const { dimensions, purpose, user } = request
  const requests = plainTexts(request, 'Gemini', mostTexts, 'input').map((text) => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    ...(purpose !== undefined && { taskType: taskTypes[purpose] }),
    ...(dimensions !== undefined && { outputDimensionality: dimensions }),
  }))
  return { value: { requests }, dropped: user === undefined ? [] : ['user'] }
}

/**
 * Usage covers all texts, where Google reports it (`usageMetadata`, from 2026 on). A shortened vector is scaled back
 * to length one, which Google does not do and other vendors do.
 */
function readReply(body: JsonValue, { dimensions }: ListRequest) {
  if (!isObject(body)) return { kind: 'unreadable', message: 'the reply is no object' } as const
  const { embeddings, usageMetadata } = body
  if (!Array.isArray(embeddings)) return withoutList(body, 'embeddings')
  const vectors = embeddings.map((item) => (isObject(item) ? item['values'] : undefined))
  if (!vectors.every(areNumbers))
    return { kind: 'unreadable', message: 'a vector is missing' } as const
  const reply: ListReply = {
    model: null,
    vectors: dimensions === undefined ? vectors : vectors.map(ofLengthOne),
    ranking: [],
    ...promptUsage(isObject(usageMetadata) ? usageMetadata['promptTokenCount'] : null),
  }
  return reply
}

function areNumbers(value: JsonValue | undefined): value is number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number')
}

function ofLengthOne(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((each) => each / length)
}

export const geminiEmbeddings: VendorList = { encodeRequest, readReply }
