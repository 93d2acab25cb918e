// Moderations: what of a text or an image may be harmful.

import type { Dialect } from '../dialect.ts'
import { openaiBase } from '../openai/base.ts'
import { peekModerations } from './peek.ts'
import { wholeModerations } from './whole.ts'

export const moderations: Dialect = {
  ...openaiBase,
  id: 'openai-moderations',
  operation: 'moderation',
  path: '/moderations',
  idPrefix: 'modr-',
  terminator: '',
  peek: peekModerations,
  whole: (body, _peek, quirks) => wholeModerations(body, quirks),
}
