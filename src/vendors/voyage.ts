// Voyage: embeddings and reranking in its own formats, which resemble OpenAI's.

import { bearer } from './compatible.ts'
import type { Call, ChannelSettings, Vendor } from './vendor.ts'

function address({ dialect }: Call, { baseUrl }: ChannelSettings): string {
  return dialect === 'voyage-rerank' ? `${baseUrl}/rerank` : `${baseUrl}/embeddings`
}

export const voyage: Vendor = {
  id: 'voyage',
  ownedBy: 'voyage',
  baseUrl: 'https://api.voyageai.com/v1',
  environment: 'VOYAGE_API_KEY',
  speaks: ['voyage-embeddings', 'voyage-rerank'],
  quirks: { usageOnStream: 'always' },
  address,
  signature: { headers: bearer },
}
