// fal: models of many makers behind one queue.

import { falImages } from './fal-images.ts'
import { falVideos } from './fal-videos.ts'
import type { Vendor } from './vendor.ts'
import { videoStarts } from './video.ts'

export const fal = {
  id: 'fal',
  ownedBy: 'fal',
  baseUrl: 'https://queue.fal.run',
  environment: 'FAL_KEY',
  speaks: ['openai-images', 'openai-image-edits', 'openai-videos'],
  usageOnStream: 'always',
  address: ({ model }, { baseUrl }) => `${baseUrl}/${model}`,
  headers: ({ key }) => (key === null ? [] : [['authorization', `Key ${key}`]]),
  quirks: {},
  adapters: {
    'openai-images': falImages,
    'openai-image-edits': falImages,
    'openai-videos': videoStarts(falVideos),
  },
  videos: falVideos,
} satisfies Vendor
