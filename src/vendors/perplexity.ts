// Perplexity: answers with sources; the running usage on every chunk of a stream.

import { amendments, developerAsSystem, maxTokensOnly } from './amendments.ts'
import { chatOnly, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const perplexity = openaiCompatible({
  id: 'perplexity',
  baseUrl: 'https://api.perplexity.ai',
  environment: 'PERPLEXITY_API_KEY',
  speaks: chatOnly,
  usageOnStream: 'always',
  amend: amendments(maxTokensOnly, developerAsSystem),
}) satisfies Vendor
