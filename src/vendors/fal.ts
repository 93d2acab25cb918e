// fal: models of many makers behind one queue.

import type { Fault } from '../errors.ts'
import { falImages } from './fal-images.ts'
import type { Vendor } from './vendor.ts'

/** An account without money is answered 403 as if its key were refused; what is moderated says so in its type. */
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
  speaks: ['openai-images', 'openai-image-edits'],
  usageOnStream: 'always',
  address: ({ model }, { baseUrl }) => `${baseUrl}/${model}`,
  headers: ({ key }) => (key === null ? [] : [['authorization', `Key ${key}`]]),
  quirks: {},
  refine,
  adapters: { 'openai-images': falImages, 'openai-image-edits': falImages },
} satisfies Vendor
