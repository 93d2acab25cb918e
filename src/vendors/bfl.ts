// Black Forest Labs (FLUX): images only.

import { lazyAdapter } from './media.ts'
import { pathSegment } from './path-segment.ts'
import type { Vendor } from './vendor.ts'

const images = lazyAdapter(async () => (await import('./bfl-images.ts')).bflImages)

export const bfl = {
  id: 'bfl',
  ownedBy: 'black-forest-labs',
  baseUrl: 'https://api.bfl.ai/v1',
  environment: 'BFL_API_KEY',
  speaks: ['openai-images', 'openai-image-edits'],
  quirks: { usageOnStream: 'always' },
  address: ({ model }, { baseUrl }) => `${baseUrl}/${pathSegment(model)}`,
  signature: { headers: ({ key }) => (key === null ? [] : [['x-key', key]]) },
  adapters: { 'openai-images': images, 'openai-image-edits': images },
} satisfies Vendor
