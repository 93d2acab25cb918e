// Serves Google's embeddings clients: `embedContent` for one text, `batchEmbedContents` for several.

import { invalidRequest } from '../../errors.ts'
import type { ClientList, Decoded } from '../codec.ts'
import { repeated } from '../gemini/fields.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { placeOf } from '../json/names.ts'
import { parseSpan } from '../json/scan.ts'
import { isObject, objectOf } from '../json/value.ts'
import type { ListReply, ListRequest } from '../list/list.ts'
import { nothingInside, readBody } from '../openai/body.ts'
import { unpackVector } from '../openai-embeddings/vectors.ts'
import type { Address, Peek } from '../request.ts'

/** The private field under this name tells whether the request was for one text or for a list. */
const self = 'google-embed'
const most = 2_048

const purposes: ReadonlyMap<string, 'query' | 'document'> = new Map(
  Object.entries({
    RETRIEVAL_QUERY: 'query',
    RETRIEVAL_DOCUMENT: 'document',
  }),
)

const known: ReadonlySet<string> = new Set(['model', 'content', 'taskType', 'outputDimensionality'])
const inside = nothingInside(placeOf(known, { requests: placeOf(known) }))

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekGoogleEmbeddings(body: Uint8Array, address: Address = {}): Peek {
  return readBody(body, inside, ({ bytes, keys, end }) => {
    decodeRequest(parseSpan(bytes, 0, bytes.length) as JsonObject, address)
    return {
      body: bytes,
      model: address.model ?? '',
      modelSpan: null,
      stream: false,
      wantsUsage: false,
      streamOptionsSpan: null,
      bodyEnd: end,
      maxOutputTokens: null,
      choices: 1,
      imageParam: null,
      keys,
      encodingFormat: 'float',
      tokenInput: false,
    }
  })
}

function decodeRequest(body: JsonObject, address: Address = {}): Decoded<ListRequest> {
  const { requests } = body
  const single = requests === undefined
  if (!single && (!Array.isArray(requests) || requests.length === 0 || requests.length > most))
    throw invalidRequest(`requests must be an array of 1 to ${most} requests`, 'requests')
  const asked = single ? [body] : (requests as JsonValue[])
  const pathOf = (at: number) => (single ? '' : `requests[${at}].`)
  const texts = asked.map((each, at) => textOf(each, pathOf(at)))
  const first = objectOf(asked[0])
  const { outputDimensionality: dimensions, taskType } = first
  if (dimensions != null && !(Number.isSafeInteger(dimensions) && Number(dimensions) > 0)) {
    const param = `${pathOf(0)}outputDimensionality`
    throw invalidRequest(`${param} must be a whole number above 0`, param)
  }
  for (const [at, each] of asked.entries()) checkAlike(first, each, pathOf(at))
  const purpose = typeof taskType === 'string' ? purposes.get(taskType) : undefined
  const dropped = Object.keys(first).filter((name) => first[name] != null && !known.has(name))
  if (taskType != null && purpose === undefined) dropped.push('taskType')
  const value: ListRequest = {
    model: address.model ?? '',
    texts,
    encoding: 'float',
    ...(typeof dimensions === 'number' && { dimensions }),
    ...(purpose !== undefined && { purpose }),
    extra: { [self]: { single } },
  }
  return { value, dropped }
}

/** The common form has these settings once, so that they must be equal for all texts. */
function checkAlike(first: JsonObject, each: JsonValue, path: string): void {
  for (const name of ['taskType', 'outputDimensionality']) {
    const own = isObject(each) ? each[name] : undefined
    if ((own ?? null) === (first[name] ?? null)) continue
    throw invalidRequest(
      `${path}${name} must be the same as in the first request`,
      `${path}${name}`,
    )
  }
}

/** Joins the texts of a content's parts. */
function textOf(asked: JsonValue, path: string): string {
  const content = isObject(asked) ? asked['content'] : undefined
  const parts = isObject(content) ? content['parts'] : undefined
  const param = `${path}content.parts`
  const list = repeated(parts)
  if (list.length === 0) throw invalidRequest(`${param} must be an array with a text`, param)
  const texts = list.map((part, at) => {
    const text = isObject(part) ? part['text'] : undefined
    if (typeof text === 'string') return text
    throw invalidRequest(`${param}[${at}] must be a text: nothing else is embedded`, param)
  })
  return texts.join('')
}

function writeReply(reply: ListReply, request: ListRequest): JsonObject {
  const values = (vector: string | readonly number[]): JsonObject => ({
    values: typeof vector === 'string' ? unpackVector(vector) : [...vector],
  })
  const tokens = reply.usage?.input
  const usage = tokens === undefined ? {} : { usageMetadata: { promptTokenCount: tokens } }
  if (request.extra?.[self]?.['single'] !== true)
    return { embeddings: reply.vectors.map(values), ...usage }
  return { embedding: values(reply.vectors[0] ?? []), ...usage }
}

export const googleEmbed: ClientList = { decodeRequest, writeReply }
