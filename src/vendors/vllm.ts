// vLLM's own server.

import { allDialects, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const vllm = openaiCompatible({
  id: 'vllm',
  baseUrl: 'http://127.0.0.1:8000/v1',
  keyless: true,
  speaks: allDialects,
}) satisfies Vendor
