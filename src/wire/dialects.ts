// All dialects of the gateway, loaded at once, for code that goes through every one of them.

import type { Dialects } from './dialect.ts'
import { audioDialects } from './openai-audio/dialects.ts'
import { imageDialects } from './openai-images/dialects.ts'
import { realtime } from './openai-realtime/dialect.ts'
import { textDialects } from './registry.ts'

export const dialects = {
  ...textDialects,
  ...imageDialects,
  ...audioDialects,
  'openai-realtime': realtime,
} satisfies Dialects
