// The search parameters in this page's address.

import { searchOf, text } from '../../app/search.ts'

/** `request`: the token of a link to one. */
export const validateSharedSearch = searchOf({ request: text })
