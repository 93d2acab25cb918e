// The search parameters in this page's address: the models side by side, their group, and the initial request.

import { list, searchOf, text } from '../../app/search.ts'

/** Side by side. */
export const mostModels = 4

const models = (value: string) => list(value)?.slice(0, mostModels)

export const validatePlaygroundSearch = searchOf({
  model: models,
  group: text,
  /** The id of a request whose kept messages are loaded. */
  from: text,
})
