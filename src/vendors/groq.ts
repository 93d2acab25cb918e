// Groq: usage in a member of its own on the last chunk of a stream.

import { chatOnly, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const groq = openaiCompatible({
  id: 'groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  environment: 'GROQ_API_KEY',
  speaks: chatOnly,
  usageOnStream: 'always',
  refusesThoughts: true,
  quirks: { usagePath: ['x_groq', 'usage'] },
}) satisfies Vendor
