// What the address of this page holds.

import { rangeFields } from '../../app/range.ts'
import { searchOf } from '../../app/search.ts'

export const validateReconcileSearch = searchOf(rangeFields)
