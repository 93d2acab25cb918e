// What the address of this page holds: the models beside each other, their group, and the request to begin from.

import { list, searchOf, text } from '../../app/search.ts'

/** Beside each other. */
export const mostModels = 4

const models = (value: string) => list(value)?.slice(0, mostModels)

export const validatePlaygroundSearch = searchOf({
  model: models,
  group: text,
  /** The id of a request whose kept messages are loaded. */
  from: text,
})
