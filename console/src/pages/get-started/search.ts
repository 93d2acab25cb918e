// The search parameters in this page's address: never a secret.

import { searchOf, text } from '../../app/search.ts'

export const validateGetStartedSearch = searchOf({ client: text, model: text })
