// OpenAI: the format's own vendor, without a quirk.

import { allAndResponses, beyondText, openaiCompatible } from './compatible.ts'
import { openaiImages } from './openai-images.ts'
import type { Vendor } from './vendor.ts'

export const openai = openaiCompatible({
  id: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  environment: 'OPENAI_API_KEY',
  speaks: [...allAndResponses, ...beyondText],
  refusesThoughts: true,
  encryptsReasoning: true,
  adapters: { 'openai-images': openaiImages, 'openai-image-edits': openaiImages },
}) satisfies Vendor
