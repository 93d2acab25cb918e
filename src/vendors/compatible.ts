// The helper most vendors are built with: OpenAI's paths and bearer keys at another address.

import type { VendorDialectId } from '../wire/formats.ts'
import { queryValue } from './path-segment.ts'
import type { Call, ChannelSettings, Vendor, VendorQuirks } from './vendor.ts'

/** Paths below the base address: OpenAI's own, and those that compatible vendors add to them. */
const paths: Readonly<Partial<Record<VendorDialectId, string>>> = {
  'openai-chat': '/chat/completions',
  'openai-completions': '/completions',
  'openai-embeddings': '/embeddings',
  'anthropic-messages': '/messages',
  'openai-responses': '/responses',
  'openai-compaction': '/responses/compact',
  'openai-images': '/images/generations',
  'openai-image-edits': '/images/edits',
  'openai-image-variations': '/images/variations',
  'openai-transcriptions': '/audio/transcriptions',
  'openai-translations': '/audio/translations',
  'openai-speech': '/audio/speech',
  'openai-moderations': '/moderations',
  'openai-realtime': '/realtime',
  'openai-videos': '/videos',
  'jina-rerank': '/rerank',
}

export const chatOnly: readonly VendorDialectId[] = ['openai-chat']
export const chatAndCompletions: readonly VendorDialectId[] = ['openai-chat', 'openai-completions']
export const chatAndEmbeddings: readonly VendorDialectId[] = ['openai-chat', 'openai-embeddings']
export const allDialects: readonly VendorDialectId[] = [
  'openai-chat',
  'openai-completions',
  'openai-embeddings',
]

/** Chat comes first: requests in other formats are translated to it. */
export const allAndResponses: readonly VendorDialectId[] = [...allDialects, 'openai-responses']
export const allAndCompaction: readonly VendorDialectId[] = [
  ...allAndResponses,
  'openai-compaction',
]

/** Images, audio, moderations and realtime sessions, as OpenAI and compatible servers offer them. */
export const beyondText: readonly VendorDialectId[] = [
  'openai-images',
  'openai-image-edits',
  'openai-image-variations',
  'openai-transcriptions',
  'openai-translations',
  'openai-speech',
  'openai-moderations',
  'openai-realtime',
]

/** Audio, as OpenAI and compatible servers offer it. */
export const audioDialects: readonly VendorDialectId[] = [
  'openai-transcriptions',
  'openai-translations',
  'openai-speech',
]

/** Throws where the dialect is not one of OpenAI's paths: a bug in a vendor's `speaks`. */
export function openaiPath(dialect: VendorDialectId): string {
  const path = paths[dialect]
  if (path === undefined) throw new Error(`no path of OpenAI's for ${dialect}`)
  return path
}

function address(call: Call, settings: ChannelSettings): string {
  const path = openaiPath(call.dialect)
  // A realtime session has no body that could name its model.
  const query = call.dialect === 'openai-realtime' ? `?model=${queryValue(call.model)}` : ''
  return settings.baseUrl + path + query
}

/** `authorization: Bearer KEY`, or nothing where the channel has no key. */
export function bearer(settings: ChannelSettings): readonly (readonly [string, string])[] {
  return settings.key === null ? [] : [['authorization', `Bearer ${settings.key}`]]
}

type Defaulted = 'ownedBy' | 'speaks' | 'address' | 'signature'

/** What a compatible vendor must define; the rest defaults to OpenAI's. */
type CompatibleVendor = Omit<Vendor, Defaulted | 'quirks'> &
  Partial<Pick<Vendor, Defaulted>> & { readonly quirks?: Partial<VendorQuirks> }

export function openaiCompatible(vendor: CompatibleVendor): Vendor {
  return {
    ownedBy: vendor.id,
    speaks: chatOnly,
    address,
    signature: { headers: bearer },
    ...vendor,
    quirks: { usageOnStream: 'ask', ...vendor.quirks },
  }
}
