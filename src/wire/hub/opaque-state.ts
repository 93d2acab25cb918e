// Marks opaque state with its origin on its way through a client, so that it returns only to the vendor that made it.

/** Who made the opaque state: only there can it be used. */
export interface OpaqueOrigin {
  readonly dialect: string
  /** The channel's tag (see relay/channel.ts). */
  readonly channel: string
}

const mark = 'tg1\n'

/** The beginning of every marked text: `mark` as base64. */
export const opaquePrefix = 'dGcxC'

/**
 * The vendor's text with its origin, encoded as base64 because clients of some formats decode opaque state as bytes.
 * Null for a text with characters above 0xff, which opaque state, being ASCII, does not have; the caller leaves it
 * out.
 */
export function wrapOpaque(value: string, { dialect, channel }: OpaqueOrigin): string | null {
  const text = `${mark}${dialect}\n${channel}\n${value}`
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return null
  return btoa(text)
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
    return atob(text)
  } catch (error) {
    // Not base64: a client may send anything.
    if (error instanceof DOMException) return null
    throw error
  }
}
