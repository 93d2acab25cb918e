// The search parameters in this page's address.

import { searchOf, text } from '../../app/search.ts'

export const validateSignInSearch = searchOf({
  'return-to': text,
  error: text,
  invitation: text,
  again: text,
})
