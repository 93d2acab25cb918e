// The search parameters in this page's address.

import { oneOf, searchOf } from '../../app/search.ts'

export const periods = ['today', 'days7', 'days30'] as const
export type Period = (typeof periods)[number]

export const validateOverviewSearch = searchOf({ period: oneOf(...periods) })
