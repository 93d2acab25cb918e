// What the address of this page holds.

import { searchOf, text } from '../../app/search.ts'

/** `request`: the token of a link to one. */
export const validateSharedSearch = searchOf({ request: text })
