// What the address of this page holds: the API's own filters, and the open model.

import { flag, oneOf, searchOf, text } from '../../app/search.ts'

export const kinds = [
  'chat',
  'completion',
  'embedding',
  'image',
  'transcription',
  'translation',
  'speech',
  'video',
  'moderation',
  'rerank',
  'realtime',
] as const

export const validateModelsSearch = searchOf({
  search: text,
  group: text,
  kind: oneOf(...kinds),
  vendor: text,
  tools: flag,
  vision: flag,
  sort: oneOf('name', 'price', 'newest', 'latency', 'throughput'),
  /** The model that is open. */
  open: text,
})

export type ModelsSearch = ReturnType<typeof validateModelsSearch>
