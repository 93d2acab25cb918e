// The search parameters in this page's address.

import { oneOf, searchOf, text } from '../../app/search.ts'

export const validateKeysSearch = searchOf({
  tab: oneOf('management'),
  search: text,
  status: oneOf('active', 'disabled', 'expired'),
  group: text,
  sort: oneOf('created', 'name', 'lastUsed', 'spend', 'expiry'),
  order: oneOf('asc', 'desc'),
  /** The key whose details are open. */
  open: text,
  dialog: oneOf('create'),
})
