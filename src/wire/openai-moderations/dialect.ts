// Assembles the dialect of moderations, which rate texts and images for harmful content.

import { format } from '../dialect.ts'
import { openaiClient, openaiIdentity, openaiVendor } from '../openai/base.ts'
import { peekModerations } from './peek.ts'
import { wholeModerations } from './whole.ts'

export const moderations = format('openai-moderations', {
  client: { ...openaiClient, path: '/moderations', idPrefix: 'modr-', peek: peekModerations },
  vendor: openaiVendor,
  identity: {
    ...openaiIdentity,
    terminator: '',
    whole: (body, _peek, quirks) => wholeModerations(body, quirks),
  },
})
