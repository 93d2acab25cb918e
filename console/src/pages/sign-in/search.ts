// What the address of this page holds.

import { searchOf, text } from '../../app/search.ts'

export const validateSignInSearch = searchOf({ 'return-to': text, error: text, invitation: text })
