// The search parameters in this page's address.

import { oneOf, searchOf, text } from '../../app/search.ts'

export const validateStatusSearch = searchOf({
  search: text,
  view: oneOf('bars', 'table'),
})

export type StatusSearch = ReturnType<typeof validateStatusSearch>
