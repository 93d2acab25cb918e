// Cohere: its own formats for chat, embeddings and reranking; errors without a code, told apart by their text.

import type { Fault } from '../errors.ts'
import type { VendorDialectId } from '../wire/formats.ts'
import { bearer } from './compatible.ts'
import type { Call, ChannelSettings, Vendor } from './vendor.ts'

/** Ignores a version at the end of the base address, which Cohere's other APIs have. */
function address({ dialect }: Call, settings: ChannelSettings): string {
  return `${settings.baseUrl.replace(/\/v[12]$/, '')}${paths[dialect] ?? '/v2/chat'}`
}

const paths: Readonly<Partial<Record<VendorDialectId, string>>> = {
  'cohere-embed': '/v2/embed',
  'cohere-rerank': '/v2/rerank',
}

/** Cohere, "Errors (status codes and description)"; 498 is its own status for a refused token. */
function refine(fault: Fault, status: number, body: string): Fault {
  if (status === 498) return { ...fault, kind: 'credentials' }
  if (status === 499) return { ...fault, kind: 'timeout' }
  if (status === 429 && /calls? \/ month|billing|payment/i.test(body)) {
    return { ...fault, kind: 'quota' }
  }
  if (status === 400 && /"message":\s*"too many tokens/i.test(body)) {
    return { ...fault, code: 'context_length_exceeded', param: 'messages' }
  }
  return fault
}

export const cohere: Vendor = {
  id: 'cohere',
  ownedBy: 'cohere',
  baseUrl: 'https://api.cohere.com',
  environment: 'COHERE_API_KEY',
  // The variable that Cohere's own clients read.
  environmentElsewhere: { CO_API_KEY: 'https://api.cohere.com' },
  speaks: ['cohere-v2', 'cohere-embed', 'cohere-rerank'],
  quirks: {
    usageOnStream: 'always',
    refine,
  },
  address,
  signature: { headers: bearer },
}
