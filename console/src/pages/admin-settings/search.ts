// The search parameters in this page's address.

import { searchOf } from '../../app/search.ts'

export const validateAdminSettingsSearch = searchOf({})
