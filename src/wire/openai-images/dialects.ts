// Images: made from a text, from other images, or as variations of one.

import type { Dialect } from '../dialect.ts'
import type { DialectId } from '../formats.ts'
import { openaiBase } from '../openai/base.ts'
import type { Body } from '../openai/body.ts'
import { type Found, mediaFormat, peekMedia } from '../openai/media.ts'
import type { Rule } from '../openai/rules.ts'
import type { Address, FormFields } from '../request.ts'
import { itemMark, readTail, readWhole, withCost } from './reply.ts'
import {
  editRules,
  findEdit,
  findGeneration,
  findVariation,
  generationRules,
  variationRules,
} from './request.ts'
import { ImageWatcher } from './watcher.ts'

/** An event holds a whole image as base64; the largest are of 4K, without compression. */
const maxFrameBytes = 67_108_864

const variationForm: FormFields = {
  model: 'text',
  image: 'files',
  n: 'number',
  size: 'text',
  response_format: 'text',
  user: 'text',
}

const editForm: FormFields = {
  ...variationForm,
  prompt: 'text',
  mask: 'file',
  quality: 'text',
  background: 'text',
  output_format: 'text',
  output_compression: 'number',
  input_fidelity: 'text',
  moderation: 'text',
  stream: 'boolean',
  partial_images: 'number',
  safety_identifier: 'text',
}

interface Requests {
  readonly rules: ReadonlyMap<string, Rule>
  find(body: Body, address: Address): Found
}

function dialect(
  id: DialectId,
  path: string,
  { rules, find }: Requests,
  further: Partial<Dialect> = {},
): Dialect {
  const format = mediaFormat(rules, ['images', 'mask'])
  return {
    ...openaiBase,
    id,
    operation: 'image',
    path,
    idPrefix: '',
    terminator: '',
    maxFrameBytes,
    itemMark,
    peek: (body, address = {}) => peekMedia(body, address, format, find),
    watcher: (options) => new ImageWatcher(options),
    whole: readWhole,
    tail: readTail,
    withCost,
    ...further,
  }
}

export const imageDialects = {
  'openai-images': dialect('openai-images', '/images/generations', {
    rules: generationRules,
    find: findGeneration,
  }),
  'openai-image-edits': dialect(
    'openai-image-edits',
    '/images/edits',
    { rules: editRules, find: findEdit },
    { form: editForm },
  ),
  'openai-image-variations': dialect(
    'openai-image-variations',
    '/images/variations',
    { rules: variationRules, find: findVariation },
    { form: variationForm, formOnly: true },
  ),
}
