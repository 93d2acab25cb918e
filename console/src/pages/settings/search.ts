// What the address of this page holds.

import { oneOf, searchOf } from '../../app/search.ts'

export const tabs = ['profile', 'sessions', 'history', 'alerts', 'appearance', 'data'] as const

export const validateSettingsSearch = searchOf({ tab: oneOf(...tabs) })
