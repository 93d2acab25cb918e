// The search parameters in this page's address.

import { rangeFields } from '../../app/range.ts'
import { searchOf, text } from '../../app/search.ts'

export const validateAuditSearch = searchOf({
  ...rangeFields,
  actor: text,
  action: text,
  text,
  /** The event that is open. */
  open: text,
})

export type AuditSearch = ReturnType<typeof validateAuditSearch>
