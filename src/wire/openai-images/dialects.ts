// Images: made from a text, from other images, or as variations of one.

import type { Dialect, DialectId, FormFields } from '../dialect.ts'
import { openaiBase } from '../openai/base.ts'
import { peekMedia, wholeMedia } from '../openai/media.ts'
import { boolean, integer, type Rule, string } from '../openai/rules.ts'

const rules: ReadonlyMap<string, Rule> = new Map([
  ['prompt', string],
  ['n', integer(1, 10)],
  ['size', string],
  ['stream', boolean],
])

const form: FormFields = {
  model: 'text',
  prompt: 'text',
  image: 'files',
  mask: 'file',
  n: 'number',
  size: 'text',
  stream: 'boolean',
}

function dialect(id: DialectId, path: string, further: Partial<Dialect> = {}): Dialect {
  return {
    ...openaiBase,
    id,
    operation: 'image',
    path,
    idPrefix: '',
    terminator: '',
    peek: (body, address = {}) => peekMedia(body, address, rules, () => ({})),
    whole: (body) => wholeMedia(body, () => ({ usage: null, finishReason: null, model: null })),
    ...further,
  }
}

export const imageDialects = {
  'openai-images': dialect('openai-images', '/images/generations'),
  'openai-image-edits': dialect('openai-image-edits', '/images/edits', { form }),
  'openai-image-variations': dialect('openai-image-variations', '/images/variations', {
    form,
    formOnly: true,
  }),
}
