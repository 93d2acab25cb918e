// Converts OpenAI's embeddings requests and replies to the common list form and back.

import type { ClientList, Decoded, VendorList, WriterHead } from '../codec.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectOf } from '../json/value.ts'
import { promptUsage, withoutList } from '../list/fields.ts'
import type { ListReply, ListRequest } from '../list/list.ts'
import { packVector, unpackVector } from './vectors.ts'

const known: ReadonlySet<string> = new Set([
  'model',
  'input',
  'dimensions',
  'encoding_format',
  'user',
  'input_type',
])

/** Values of `input_type` as Cohere and Voyage define them, which OpenAI's clients pass on. */
const purposes: ReadonlyMap<string, 'query' | 'document'> = new Map(
  Object.entries({
    query: 'query',
    search_query: 'query',
    document: 'document',
    search_document: 'document',
  }),
)

/** The body was validated by `peekEmbeddings`. */
function decodeRequest(body: JsonObject): Decoded<ListRequest> {
  const { model, input, dimensions, encoding_format: format, user, input_type: type } = body
  const purpose = typeof type === 'string' ? purposes.get(type) : undefined
  const dropped = Object.keys(body).filter((name) => body[name] != null && !known.has(name))
  if (type != null && purpose === undefined) dropped.push('input_type')
  const value: ListRequest = {
    model: String(model),
    texts: textsOf(input),
    encoding: format === 'base64' ? 'base64' : 'float',
    ...(typeof dimensions === 'number' && { dimensions }),
    ...(purpose !== undefined && { purpose }),
    ...(typeof user === 'string' && { user }),
  }
  return { value, dropped }
}

/** A list of numbers is one text as token ids; a list of lists is several. */
function textsOf(input: JsonValue | undefined): ListRequest['texts'] {
  if (!Array.isArray(input)) return [String(input)]
  if (typeof input[0] === 'number') return [input as number[]]
  return input as (string | number[])[]
}

function encodeRequest(request: ListRequest, model: string): Decoded<JsonObject> {
  const { texts, dimensions, encoding = 'float', user } = request
  const value: JsonObject = {
    model,
    input: texts.map((text) => (typeof text === 'string' ? text : [...text])),
    encoding_format: encoding,
    ...(dimensions !== undefined && { dimensions }),
    ...(user !== undefined && { user }),
  }
  return { value, dropped: request.purpose === undefined ? [] : ['input_type'] }
}

/** Reads replies of OpenAI and of Voyage, which reports only the total of tokens. */
export function readEmbeddings(body: JsonValue): ListReply | ReturnType<typeof withoutList> {
  if (!isObject(body)) return { kind: 'unreadable', message: 'the reply is no object' }
  const { data, model, usage } = body
  if (!Array.isArray(data)) return withoutList(body, 'data')
  const items = data.map((item) => objectOf(item))
  // Sorts by `index` if every vector has one.
  if (items.every(({ index }) => typeof index === 'number')) {
    items.sort((a, b) => Number(a['index']) - Number(b['index']))
  }
  const vectors = items.map((item) => item['embedding'])
  if (!vectors.every(isVector)) return { kind: 'unreadable', message: 'a vector is missing' }
  const counts = objectOf(usage)
  return {
    model: typeof model === 'string' ? model : null,
    vectors,
    ranking: [],
    ...promptUsage(counts['prompt_tokens'] ?? counts['total_tokens']),
  }
}

function isVector(value: JsonValue | undefined): value is string | number[] {
  return typeof value === 'string' || Array.isArray(value)
}

function writeReply(reply: ListReply, request: ListRequest, head: WriterHead): JsonObject {
  const tokens = reply.usage?.input
  return {
    object: 'list',
    data: reply.vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: inForm(vector, request.encoding ?? 'float'),
    })),
    model: reply.model ?? head.model,
    ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  }
}

function inForm(vector: string | readonly number[], encoding: 'float' | 'base64'): JsonValue {
  if (encoding === 'base64') return typeof vector === 'string' ? vector : packVector(vector)
  return typeof vector === 'string' ? unpackVector(vector) : [...vector]
}

export const embeddingsList: ClientList & VendorList = {
  decodeRequest,
  encodeRequest,
  readReply: readEmbeddings,
  writeReply,
}
