// OpenAI: the format's own vendor, without a quirk.

import { allAndResponses, beyondText, openaiCompatible } from './compatible.ts'
import { openaiVideos } from './openai-videos.ts'
import type { Vendor } from './vendor.ts'
import { videoStarts } from './video.ts'

export const openai = openaiCompatible({
  id: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  environment: 'OPENAI_API_KEY',
  speaks: [...allAndResponses, ...beyondText, 'openai-videos'],
  adapters: { 'openai-videos': videoStarts(openaiVideos) },
  videos: openaiVideos,
  refusesThoughts: true,
  encryptsReasoning: true,
}) satisfies Vendor
