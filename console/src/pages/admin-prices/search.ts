// The search parameters in this page's address.

import { oneOf, searchOf, text } from '../../app/search.ts'

export const views = ['book', 'scheduled', 'missing', 'shipped', 'import'] as const

export const validatePricesSearch = searchOf({
  /** Left out: book. */
  view: oneOf(...views),
  search: text,
  /** The model that is open, or a pattern of models. */
  open: text,
})

export type PricesSearch = ReturnType<typeof validatePricesSearch>
