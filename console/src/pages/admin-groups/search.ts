// The search parameters in this page's address.

import { searchOf, text } from '../../app/search.ts'

export const validateGroupsSearch = searchOf({
  /** The group that is open. */
  open: text,
  /** The form of a new group is open. */
  make: text,
})

export type GroupsSearch = ReturnType<typeof validateGroupsSearch>
