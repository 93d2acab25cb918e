// OpenAI: the vendor whose formats others copy, without quirks.

import { amendments } from './amendments.ts'
import { allAndCompaction, beyondText, openaiCompatible } from './compatible.ts'
import { openaiImages } from './openai-images.ts'
import { openaiListeners } from './openai-transcripts.ts'
import { makersParameters } from './parameters.ts'
import { offersToolsToThinker, responsesFirst } from './responses-first.ts'
import { raisedLimit } from './responses-limit.ts'
import { shortCallIds, withoutForeign } from './sent-back.ts'
import type { Vendor } from './vendor.ts'
import { type VendorVideos, videoStarts, videoVariants } from './video.ts'

/** Also used for servers that copy OpenAI's API. */
export const openaiVideos: VendorVideos = {
  variants: videoVariants,
  startsPlainly: true,
  load: async () => (await import('./openai-videos.ts')).openaiVideos,
}

const speaks = [...allAndCompaction, ...beyondText, 'openai-videos'] as const

export const openai = openaiCompatible({
  id: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  environment: 'OPENAI_API_KEY',
  speaks,
  speaksFor: responsesFirst(speaks),
  videos: openaiVideos,
  quirks: {
    parameters: makersParameters,
    amend: amendments(withoutForeign, shortCallIds, raisedLimit),
    refusesThoughts: true,
    encryptsReasoning: true,
    everyTool: true,
    asksInFirst: offersToolsToThinker,
  },
  adapters: {
    'openai-images': openaiImages,
    'openai-image-edits': openaiImages,
    'openai-videos': videoStarts(openaiVideos),
    'openai-transcriptions': openaiListeners,
  },
}) satisfies Vendor
