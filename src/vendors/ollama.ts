// Ollama, through its OpenAI-compatible paths: local, without a key, embeddings only as floats.

import { amendments, maxTokensOnly } from './amendments.ts'
import { allDialects, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const ollama = openaiCompatible({
  id: 'ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  keyless: true,
  speaks: allDialects,
  quirks: { amend: amendments(maxTokensOnly) },
}) satisfies Vendor
