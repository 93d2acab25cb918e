// All dialects spoken here, whatever is in use: for what goes through all of them.

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
