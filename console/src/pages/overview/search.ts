// What the address of this page holds.

import { searchOf } from '../../app/search.ts'

export const validateOverviewSearch = searchOf({})
