// Models of vendors that only embed and rerank.

import { embeds, type ShippedModel, type ShippedModels } from '../shipped.ts'

const ranks: ShippedModel = { kind: 'rerank' }

export const voyage: ShippedModels = {
  vendor: 'voyage',
  ownedBy: 'voyage',
  models: {
    'voyage-3.5': embeds,
    'voyage-3.5-lite': embeds,
    'voyage-3-large': embeds,
    'voyage-code-3': embeds,
    'rerank-2.5': ranks,
    'rerank-2.5-lite': ranks,
  },
}

export const jina: ShippedModels = {
  vendor: 'jina',
  ownedBy: 'jina',
  models: {
    'jina-embeddings-v3': embeds,
    'jina-embeddings-v4': embeds,
    'jina-reranker-v2-base-multilingual': ranks,
    'jina-reranker-m0': ranks,
  },
}
