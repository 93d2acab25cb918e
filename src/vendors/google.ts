// Google's Gemini API: the model and the method are in the URL, the key is in a header of its own.

import { lazyAdapter } from './media.ts'
import { pathSegments } from './path-segment.ts'
import type { Call, ChannelSettings, Vendor } from './vendor.ts'
import { type VendorVideos, videoStarts } from './video.ts'

export const geminiImages = lazyAdapter(
  async () => (await import('./gemini-images.ts')).geminiImages,
)
export const geminiTranscripts = lazyAdapter(
  async () => (await import('./google-transcripts.ts')).geminiTranscripts,
)
export const geminiSpeech = lazyAdapter(
  async () => (await import('./google-speech.ts')).geminiSpeech,
)
const veo: VendorVideos = {
  variants: ['video'],
  load: async () => (await import('./google-videos.ts')).veo,
}

/** The method suffix of the URL, which also says whether the reply is streamed. */
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
  version: 'v1beta',
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
