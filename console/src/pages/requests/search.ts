// What the address of this page holds.

import { searchOf, text } from '../../app/search.ts'

export const validateRequestsSearch = searchOf({
  /** The request that is open. */
  open: text,
})
