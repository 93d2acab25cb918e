// What the address of this page holds.

import { oneOf, searchOf } from '../../app/search.ts'

export const validateOperationsSearch = searchOf({ period: oneOf('today', 'days7', 'days30') })
