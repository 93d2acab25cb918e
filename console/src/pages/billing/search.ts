// What the address of this page holds.

import { rangeFields } from '../../app/range.ts'
import { searchOf, text } from '../../app/search.ts'

export const validateBillingSearch = searchOf({
  ...rangeFields,
  /** A ledger entry that another page points at. */
  entry: text,
})
