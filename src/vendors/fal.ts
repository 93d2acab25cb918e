// fal: models of many makers behind one queue.

import type { Fault } from '../errors.ts'
import { lazyAdapter } from './media.ts'
import { pathSegments } from './path-segment.ts'
import type { Vendor } from './vendor.ts'
import { type VendorVideos, videoStarts } from './video.ts'

const falImages = lazyAdapter(async () => (await import('./fal-images.ts')).falImages)
const falVideos: VendorVideos = {
  variants: ['video'],
  load: async () => (await import('./fal-videos.ts')).falVideos,
}

/** An account without money gets 403 like a refused key; a moderated request is recognized by the error's type. */
function refine(fault: Fault, status: number, body: string): Fault {
  if (status === 403 && /exhausted balance/i.test(body)) return { ...fault, kind: 'quota' }
  if (status === 422 && body.includes('"content_policy_violation"'))
    return { ...fault, kind: 'rejected', code: 'content_policy_violation' }
  return fault
}

export const fal = {
  id: 'fal',
  ownedBy: 'fal',
  baseUrl: 'https://queue.fal.run',
  environment: 'FAL_KEY',
  speaks: ['openai-images', 'openai-image-edits', 'openai-videos'],
  quirks: {
    usageOnStream: 'always',
    refine,
  },
  address: ({ model }, { baseUrl }) => `${baseUrl}/${pathSegments(model)}`,
  signature: { headers: ({ key }) => (key === null ? [] : [['authorization', `Key ${key}`]]) },
  adapters: {
    'openai-images': falImages,
    'openai-image-edits': falImages,
    'openai-videos': videoStarts(falVideos),
  },
  videos: falVideos,
} satisfies Vendor
