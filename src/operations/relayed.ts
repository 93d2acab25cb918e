// Which operations are relayed otherwise than plain text.

import type { RelayOperation } from '../relay/operation.ts'
import type { Operation } from '../wire/formats.ts'
import { imageRelay, mediaRelay } from './adapters/operation.ts'
import { listRelay } from './embeddings/translate.ts'

export const relayed: Readonly<Partial<Record<Operation, RelayOperation>>> = {
  embedding: listRelay,
  rerank: listRelay,
  image: imageRelay,
  transcription: mediaRelay,
  translation: mediaRelay,
  speech: mediaRelay,
  video: mediaRelay,
}
