// Whoever else speaks OpenAI's format: the operator gives the address, and a key where one is needed.

import { allDialects, beyondText, openaiCompatible } from './compatible.ts'
import { compatibleImages } from './openai-images.ts'
import type { Vendor } from './vendor.ts'

export const anyCompatible = openaiCompatible({
  id: 'openai-compatible',
  baseUrl: null,
  keyless: true,
  speaks: [...allDialects, ...beyondText],
  adapters: {
    'openai-images': compatibleImages,
    'openai-image-edits': compatibleImages,
    'openai-image-variations': compatibleImages,
  },
}) satisfies Vendor
