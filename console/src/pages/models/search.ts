// The search parameters in this page's address: the API's own filters, the view, and the open model.

import { flag, oneOf, searchOf, text, wholeNumber } from '../../app/search.ts'

const kinds = [
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

const sorts = ['name', 'price', 'outputPrice', 'newest', 'latency', 'throughput'] as const

const filters = {
  search: text,
  vendor: text,
  kind: oneOf(...kinds),
  modality: oneOf('text', 'image', 'audio', 'video'),
  context: wholeNumber,
  endpoint: text,
  group: text,
  tools: flag,
  vision: flag,
  reasoning: flag,
  jsonSchema: flag,
}

export const validateModelsSearch = searchOf({
  ...filters,
  sort: oneOf(...sorts),
  view: oneOf('table', 'cards'),
  /** The model that is open. */
  open: text,
})

export type ModelsSearch = ReturnType<typeof validateModelsSearch>

const filtersIn = searchOf(filters)

type Given<Fields> = { readonly [Name in keyof Fields]?: NonNullable<Fields[Name]> }

/** Those that are set; the API has the same names. */
export function filtersOf(search: ModelsSearch): Given<ReturnType<typeof filtersIn>> {
  return filtersIn(search) as Given<ReturnType<typeof filtersIn>>
}

export const withoutFilters: Partial<ModelsSearch> = Object.fromEntries(
  Object.keys(filters).map((name) => [name, undefined]),
)
