// Encodes embeddings requests for Voyage: OpenAI's form with extra fields
// (docs.voyageai.com/reference/embeddings-api).

import type { Decoded, VendorList } from '../codec.ts'
import type { JsonObject } from '../ir.ts'
import { plainTexts } from '../list/fields.ts'
import type { ListRequest } from '../list/list.ts'
import { readEmbeddings } from '../openai-embeddings/list.ts'

const mostTexts = 1_000

function encodeRequest(request: ListRequest, model: string): Decoded<JsonObject> {
  const { dimensions, encoding, purpose, user } = request
  const value: JsonObject = {
    model,
    input: plainTexts(request, 'Voyage', mostTexts, 'input'),
    ...(dimensions !== undefined && { output_dimension: dimensions }),
    ...(encoding === 'base64' && { encoding_format: 'base64' }),
    ...(purpose !== undefined && { input_type: purpose }),
  }
  return { value, dropped: user === undefined ? [] : ['user'] }
}

export const voyageEmbeddings: VendorList = { encodeRequest, readReply: readEmbeddings }
