// Assembles the dialects of image generation, edits and variations.

import { type ClientSide, format } from '../dialect.ts'
import type { CommonDialectId } from '../formats.ts'
import { openaiClient, openaiVendor } from '../openai/base.ts'
import type { Body } from '../openai/body.ts'
import { type Found, mediaFormat, peekMedia } from '../openai/media.ts'
import type { Rule } from '../openai/rules.ts'
import type { Address, FormFields } from '../request.ts'
import { maxFileFrameBytes } from '../sse.ts'
import { imageUsage, itemMark, readTail, readWhole, withCost } from './reply.ts'
import {
  editRules,
  findEdit,
  findGeneration,
  findVariation,
  generationRules,
  variationRules,
} from './request.ts'
import { ImageWatcher } from './watcher.ts'

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

/** The endpoint's path, and the form in which its requests may come. */
type Own = Pick<ClientSide, 'path' | 'form' | 'formOnly'>

function dialect(id: CommonDialectId, { rules, find }: Requests, own: Own) {
  const shape = mediaFormat(rules, ['images', 'mask'])
  return format(id, {
    client: {
      ...openaiClient,
      idPrefix: '',
      peek: (body, address = {}) => peekMedia(body, address, shape, find),
      withCost,
      ...own,
    },
    vendor: openaiVendor,
    identity: {
      terminator: '',
      // The largest images are uncompressed ones of 4K.
      maxFrameBytes: maxFileFrameBytes,
      itemMark,
      watcher: (options) => new ImageWatcher(options),
      whole: readWhole,
      tail: readTail,
      statedUsage: imageUsage,
    },
  })
}

export const imageDialects = {
  'openai-images': dialect(
    'openai-images',
    { rules: generationRules, find: findGeneration },
    { path: '/images/generations' },
  ),
  'openai-image-edits': dialect(
    'openai-image-edits',
    { rules: editRules, find: findEdit },
    { path: '/images/edits', form: editForm },
  ),
  'openai-image-variations': dialect(
    'openai-image-variations',
    { rules: variationRules, find: findVariation },
    { path: '/images/variations', form: variationForm, formOnly: true },
  ),
}
