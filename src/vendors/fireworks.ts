// Fireworks AI: open models under OpenAI's paths.

import { allDialects, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const fireworks = openaiCompatible({
  id: 'fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  environment: 'FIREWORKS_API_KEY',
  speaks: allDialects,
}) satisfies Vendor
