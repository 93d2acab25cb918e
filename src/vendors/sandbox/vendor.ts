// The built-in vendor: answers inside this process, deterministically, with the pace or fault asked for.

import { allDialects, beyondText, openaiCompatible } from '../compatible.ts'
import { lazyAdapter } from '../media.ts'
import type { Vendor } from '../vendor.ts'
import { type VendorVideos, videoStarts } from '../video.ts'
import { sandboxService } from './service.ts'
import { sandboxBaseModel } from './settings.ts'

const images = lazyAdapter(async () => (await import('./media/adapters.ts')).sandboxImages)
const transcripts = lazyAdapter(
  async () => (await import('./media/adapters.ts')).sandboxTranscripts,
)
const speech = lazyAdapter(async () => (await import('./media/adapters.ts')).sandboxSpeech)
const videos: VendorVideos = {
  variants: ['video', 'thumbnail'],
  load: async () => (await import('./media/videos.ts')).sandboxVideos,
}

export const sandbox = openaiCompatible({
  id: 'sandbox',
  // Never contacted: `.invalid` never resolves (RFC 6761).
  baseUrl: 'http://sandbox.invalid/v1',
  keyless: true,
  speaks: [...allDialects, ...beyondText, 'openai-videos'],
  adapters: {
    'openai-images': images,
    'openai-image-edits': images,
    'openai-image-variations': images,
    'openai-transcriptions': transcripts,
    'openai-translations': transcripts,
    'openai-speech': speech,
    'openai-videos': videoStarts(videos),
  },
  videos,
  quirks: { withoutSettings: (name) => (name.includes('+') ? sandboxBaseModel(name) : null) },
  local: sandboxService,
}) satisfies Vendor
