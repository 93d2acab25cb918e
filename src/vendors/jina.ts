// Jina: embeddings in OpenAI's format, and reranking in its own.

import { openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'

export const jina = openaiCompatible({
  id: 'jina',
  baseUrl: 'https://api.jina.ai/v1',
  environment: 'JINA_API_KEY',
  speaks: ['openai-embeddings', 'jina-rerank'],
  quirks: { usageOnStream: 'always' },
}) satisfies Vendor
