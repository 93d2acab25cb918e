// llama.cpp's server; its `/v1/rerank` is like Jina's.

import { amendments, maxTokensOnly } from './amendments.ts'
import { allDialects, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const llamacpp = openaiCompatible({
  id: 'llamacpp',
  baseUrl: 'http://127.0.0.1:8080/v1',
  keyless: true,
  quirks: { amend: amendments(maxTokensOnly) },
  speaks: [...allDialects, 'jina-rerank'],
}) satisfies Vendor
