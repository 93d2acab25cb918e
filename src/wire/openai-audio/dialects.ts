// Sound to text, and text to sound.

import type { Dialect, DialectId, FormFields, Operation } from '../dialect.ts'
import { openaiBase } from '../openai/base.ts'
import { peekMedia, wholeMedia } from '../openai/media.ts'
import { boolean, type Rule, string } from '../openai/rules.ts'

const rules: ReadonlyMap<string, Rule> = new Map([
  ['prompt', string],
  ['response_format', string],
  ['stream', boolean],
])

const form: FormFields = {
  file: 'file',
  model: 'text',
  prompt: 'text',
  response_format: 'text',
  stream: 'boolean',
}

function dialect(
  id: DialectId,
  operation: Operation,
  path: string,
  further: Partial<Dialect>,
): Dialect {
  return {
    ...openaiBase,
    id,
    operation,
    path,
    idPrefix: '',
    terminator: '',
    peek: (body, address = {}) => peekMedia(body, address, rules, () => ({})),
    whole: (body) => wholeMedia(body, () => ({ usage: null, finishReason: null, model: null })),
    ...further,
  }
}

const upload: Partial<Dialect> = { form, formOnly: true, isRaw: (type) => type.startsWith('text/') }

export const audioDialects = {
  'openai-transcriptions': dialect(
    'openai-transcriptions',
    'transcription',
    '/audio/transcriptions',
    upload,
  ),
  'openai-translations': dialect(
    'openai-translations',
    'translation',
    '/audio/translations',
    upload,
  ),
  'openai-speech': dialect('openai-speech', 'speech', '/audio/speech', {
    isRaw: (type) => type.startsWith('audio/') || type === 'application/octet-stream',
  }),
}
