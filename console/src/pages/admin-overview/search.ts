// The search parameters in this page's address.

import { oneOf, searchOf } from '../../app/search.ts'

export const validateOperationsSearch = searchOf({ period: oneOf('today', 'days7', 'days30') })
