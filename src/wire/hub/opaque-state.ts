// Marks opaque state with its origin on its way through a client, so that it returns only to the vendor that made it.

import { base64Of } from './data-url.ts'

/** Who made the opaque state: only there can it be used. */
export interface OpaqueOrigin {
  readonly dialect: string
  /** The channel's tag (see relay/channel.ts). */
  readonly channel: string
}

const mark = 'tg1\n'
/** Opaque state is nearly always ASCII, which needs no UTF-8. */
const isAscii = /^[\0-\x7f]*$/
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The beginning of every marked text: `mark` as base64. */
export const opaquePrefix = 'dGcxC'

/**
 * The vendor's text with its origin, encoded as base64 because clients of some formats decode opaque state as bytes.
 * Null for a text with half a surrogate pair, which UTF-8 cannot hold; the caller leaves it out.
 */
export function wrapOpaque(value: string, { dialect, channel }: OpaqueOrigin): string | null {
  const text = `${mark}${dialect}\n${channel}\n${value}`
  if (isAscii.test(text)) return btoa(text)
  return text.isWellFormed() ? base64Of(text) : null
}

/** The vendor's text and its origin; null where the gateway did not mark the text. */
export function unwrapOpaque(
  text: string,
): { readonly origin: OpaqueOrigin; readonly value: string } | null {
  if (!text.startsWith(opaquePrefix)) return null
  const plain = decoded(text)
  if (plain === null || !plain.startsWith(mark)) return null
  const dialectEnd = plain.indexOf('\n', mark.length)
  const channelEnd = plain.indexOf('\n', dialectEnd + 1)
  if (dialectEnd < 0 || channelEnd < 0) return null
  const dialect = plain.slice(mark.length, dialectEnd)
  const channel = plain.slice(dialectEnd + 1, channelEnd)
  return { origin: { dialect, channel }, value: plain.slice(channelEnd + 1) }
}

function decoded(text: string): string | null {
  try {
    const bytes = atob(text)
    if (isAscii.test(bytes)) return bytes
    return decoder.decode(Uint8Array.from(bytes, (each) => each.charCodeAt(0)))
  } catch (error) {
    // Not base64: a client may send anything.
    if (error instanceof DOMException) return null
    throw error
  }
}
