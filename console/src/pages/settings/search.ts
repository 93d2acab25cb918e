// The search parameters in this page's address.

import { oneOf, searchOf } from '../../app/search.ts'

export const tabs = ['profile', 'sessions', 'history', 'alerts', 'appearance', 'data'] as const

export const validateSettingsSearch = searchOf({ tab: oneOf(...tabs) })
