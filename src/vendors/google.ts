// Google's Gemini API: the model and the method stand in the address, the key in a header of its own.

import { geminiImages } from './gemini-images.ts'
import { geminiSpeech } from './google-speech.ts'
import { geminiTranscripts } from './google-transcripts.ts'
import { veo } from './google-videos.ts'
import { pathSegments } from './path-segment.ts'
import type { Call, ChannelSettings, Vendor } from './vendor.ts'
import { videoStarts } from './video.ts'

/** The method, by which a call says whether it wants events. */
export function methodOf(call: Call): string {
  if (call.dialect === 'gemini-embeddings') return ':batchEmbedContents'
  return call.stream ? ':streamGenerateContent?alt=sse' : ':generateContent'
}

function address(call: Call, settings: ChannelSettings): string {
  const { model } = call
  const full = /^(models|tunedModels)\//.test(model) ? model : `models/${model}`
  return `${settings.baseUrl}/${pathSegments(full)}${methodOf(call)}`
}

export const google = {
  id: 'google',
  ownedBy: 'google',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  environment: 'GEMINI_API_KEY',
  speaks: [
    'gemini',
    'gemini-embeddings',
    'openai-images',
    'openai-image-edits',
    'openai-transcriptions',
    'openai-translations',
    'openai-speech',
    'openai-videos',
  ],
  quirks: { usageOnStream: 'always' },
  address,
  signature: { headers: ({ key }) => (key === null ? [] : [['x-goog-api-key', key]]) },
  adapters: {
    'openai-images': geminiImages,
    'openai-image-edits': geminiImages,
    'openai-transcriptions': geminiTranscripts,
    'openai-translations': geminiTranscripts,
    'openai-speech': geminiSpeech,
    'openai-videos': videoStarts(veo),
  },
  videos: veo,
} satisfies Vendor
