// Jina: embeddings in OpenAI's format, and reranking in its own.

import { bearer, openaiPath } from './compatible.ts'
import type { Call, ChannelSettings, Vendor } from './vendor.ts'

function address({ dialect }: Call, { baseUrl }: ChannelSettings): string {
  return baseUrl + (dialect === 'jina-rerank' ? '/rerank' : openaiPath(dialect))
}

export const jina: Vendor = {
  id: 'jina',
  ownedBy: 'jina',
  baseUrl: 'https://api.jina.ai/v1',
  environment: 'JINA_API_KEY',
  speaks: ['openai-embeddings', 'jina-rerank'],
  quirks: { usageOnStream: 'always' },
  address,
  signature: { headers: bearer },
}
