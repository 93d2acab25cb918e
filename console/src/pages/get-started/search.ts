// What the address of this page holds: never a secret.

import { searchOf, text } from '../../app/search.ts'

export const validateGetStartedSearch = searchOf({ client: text, model: text })
