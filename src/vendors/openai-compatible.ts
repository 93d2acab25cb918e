// Any other server that speaks OpenAI's format: the operator gives the address, and a key where one is needed.

import { allDialects, beyondText, openaiCompatible } from './compatible.ts'
import { openaiVideos } from './openai.ts'
import { compatibleImages } from './openai-images.ts'
import { makersParameters } from './parameters.ts'
import type { Vendor } from './vendor.ts'
import { videoStarts } from './video.ts'

export const anyCompatible = openaiCompatible({
  id: 'openai-compatible',
  baseUrl: null,
  keyless: true,
  speaks: [...allDialects, ...beyondText, 'openai-videos'],
  adapters: {
    'openai-images': compatibleImages,
    'openai-image-edits': compatibleImages,
    'openai-image-variations': compatibleImages,
    'openai-videos': videoStarts(openaiVideos),
  },
  quirks: { parameters: makersParameters },
  videos: openaiVideos,
}) satisfies Vendor
