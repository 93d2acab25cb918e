// Moderations: what of a text or an image may be harmful.

import type { Dialect } from '../dialect.ts'
import { openaiBase } from '../openai/base.ts'
import { peekMedia, wholeMedia } from '../openai/media.ts'

export const moderations: Dialect = {
  ...openaiBase,
  id: 'openai-moderations',
  operation: 'moderation',
  path: '/moderations',
  idPrefix: 'modr-',
  terminator: '',
  peek: (body, address = {}) => peekMedia(body, address, new Map(), () => ({})),
  whole: (body) => wholeMedia(body, () => ({ usage: null, finishReason: null, model: null })),
}
