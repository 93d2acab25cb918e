// Stability AI: images only.

import type { Fault } from '../errors.ts'
import { lazyAdapter, moderated } from './media.ts'
import type { Vendor } from './vendor.ts'

const images = lazyAdapter(async () => (await import('./stability-images.ts')).stabilityImages)

/** `{"id", "name": "content_moderation", "errors": [...]}` with 403 is the prompt's fault, not the key's. */
function refine(fault: Fault, status: number, body: string): Fault {
  if (status === 403 && /content_moderation|moderat/i.test(body))
    return { ...moderated('the prompt was refused').fault, status }
  if (status === 402 || /payment_required|insufficient.*credits/i.test(body))
    return { ...fault, kind: 'quota' }
  return fault
}

export const stability = {
  id: 'stability',
  ownedBy: 'stability',
  baseUrl: 'https://api.stability.ai',
  environment: 'STABILITY_API_KEY',
  speaks: ['openai-images', 'openai-image-edits'],
  quirks: {
    usageOnStream: 'always',
    refine,
  },
  address: (_call, { baseUrl }) => `${baseUrl}/v2beta/stable-image/generate/sd3`,
  signature: { headers: ({ key }) => (key === null ? [] : [['authorization', `Bearer ${key}`]]) },
  adapters: { 'openai-images': images, 'openai-image-edits': images },
} satisfies Vendor
