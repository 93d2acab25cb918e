// The search parameters in this page's address.

import { rangeFields } from '../../app/range.ts'
import { searchOf, text } from '../../app/search.ts'

export const validateBillingSearch = searchOf({
  ...rangeFields,
  /** A ledger entry to which another page links. */
  entry: text,
})

export type BillingSearch = ReturnType<typeof validateBillingSearch>
