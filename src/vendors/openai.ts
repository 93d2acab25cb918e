// OpenAI: the format's own vendor, without a quirk.

import { allAndCompaction, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const openai = openaiCompatible({
  id: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  environment: 'OPENAI_API_KEY',
  speaks: allAndCompaction,
  refusesThoughts: true,
  encryptsReasoning: true,
}) satisfies Vendor
