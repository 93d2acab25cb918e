// The search parameters in this page's address.

import { rangeFields } from '../../app/range.ts'
import { searchOf } from '../../app/search.ts'

export const validateReconcileSearch = searchOf(rangeFields)
