// LM Studio's local server.

import { amendments, maxTokensOnly } from './amendments.ts'
import { allDialects, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const lmstudio = openaiCompatible({
  id: 'lmstudio',
  baseUrl: 'http://127.0.0.1:1234/v1',
  keyless: true,
  speaks: allDialects,
  quirks: { amend: amendments(maxTokensOnly) },
}) satisfies Vendor
