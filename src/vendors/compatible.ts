// The helper most vendors are built with: OpenAI's paths and bearer keys, under another address.

import type { VendorDialectId } from '../wire/formats.ts'
import { queryValue } from './path-segment.ts'
import type { Call, ChannelSettings, Vendor, VendorQuirks } from './vendor.ts'

/** Paths below the base address: OpenAI's own, and those that compatible vendors put beside them. */
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
}

export const chatOnly: readonly VendorDialectId[] = ['openai-chat']
export const chatAndCompletions: readonly VendorDialectId[] = ['openai-chat', 'openai-completions']
export const chatAndEmbeddings: readonly VendorDialectId[] = ['openai-chat', 'openai-embeddings']
export const allDialects: readonly VendorDialectId[] = [
  'openai-chat',
  'openai-completions',
  'openai-embeddings',
]

/** Chat first: what others ask is put in that format. */
export const allAndResponses: readonly VendorDialectId[] = [...allDialects, 'openai-responses']
export const allAndCompaction: readonly VendorDialectId[] = [
  ...allAndResponses,
  'openai-compaction',
]

/** Images, sound, moderations and sessions, as OpenAI itself and servers like it have them. */
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

/** Sound, as OpenAI itself and servers like it have it. */
export const audioDialects: readonly VendorDialectId[] = [
  'openai-transcriptions',
  'openai-translations',
  'openai-speech',
]

/** Throws where the format is none of OpenAI's: a mistake in a vendor's `speaks`. */
export function openaiPath(dialect: VendorDialectId): string {
  const path = paths[dialect]
  if (path === undefined) throw new Error(`no path of OpenAI's for ${dialect}`)
  return path
}

function address(call: Call, settings: ChannelSettings): string {
  const path = openaiPath(call.dialect)
  // A session has no body that could name its model.
  const query = call.dialect === 'openai-realtime' ? `?model=${queryValue(call.model)}` : ''
  return settings.baseUrl + path + query
}

/** `authorization: Bearer KEY`, or nothing where the channel has no key. */
export function bearer(settings: ChannelSettings): readonly (readonly [string, string])[] {
  return settings.key === null ? [] : [['authorization', `Bearer ${settings.key}`]]
}

type Defaulted = 'ownedBy' | 'speaks' | 'address' | 'signature'

/** What a compatible vendor must say of itself; the rest is as at OpenAI. */
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
