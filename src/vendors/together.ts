// Together AI: open models under OpenAI's paths.

import { amendments, maxTokensOnly } from './amendments.ts'
import { allDialects, openaiCompatible } from './compatible.ts'
import { topLevelCached } from './usage.ts'
import type { Vendor } from './vendor.ts'

export const together = openaiCompatible({
  id: 'together',
  baseUrl: 'https://api.together.xyz/v1',
  environment: 'TOGETHER_API_KEY',
  speaks: allDialects,
  amend: amendments(maxTokensOnly),
  quirks: { usage: topLevelCached },
}) satisfies Vendor
