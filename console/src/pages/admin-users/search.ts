// The search parameters in this page's address.

import { oneOf, searchOf, text } from '../../app/search.ts'

export const validateUsersSearch = searchOf({
  /** Left out: accounts. */
  view: oneOf('accounts', 'invitations'),
  search: text,
  role: oneOf('user', 'auditor', 'admin'),
  status: oneOf('active', 'suspended', 'deleted'),
  sort: oneOf('newest', 'spend', 'balance', 'lastSeen'),
  /** The account that is open. */
  open: text,
})

export type UsersSearch = ReturnType<typeof validateUsersSearch>
