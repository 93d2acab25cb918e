// OpenRouter: many vendors behind one API; usage on every reply, numeric error codes, and errors with status 200.

import { allAndResponses, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const openrouter = openaiCompatible({
  id: 'openrouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  environment: 'OPENROUTER_API_KEY',
  speaks: allAndResponses,
  quirks: { usageOnStream: 'always' },
}) satisfies Vendor
