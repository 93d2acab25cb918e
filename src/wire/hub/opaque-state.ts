// What one vendor encrypted or signed for itself, on its way through a client: marked with where it came from.

/** Who made opaque state: it is of use there only. */
export interface OpaqueOrigin {
  readonly dialect: string
  /** The channel's tag (relay/channel.ts). */
  readonly channel: string
}

const mark = 'tg1\n'

/** Every marked text begins so, whatever it holds. */
export const opaquePrefix = 'dGcxC'

/**
 * The vendor's text with its origin, as base64 of its own: clients of some formats decode it as bytes. The vendor's text
 * must be ASCII, as signatures and encrypted texts are; what is not is left out, for no vendor would know it again.
 */
export function wrapOpaque(value: string, { dialect, channel }: OpaqueOrigin): string | null {
  const text = `${mark}${dialect}\n${channel}\n${value}`
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return null
  return btoa(text)
}

/** The vendor's text and its origin; null where the text was never marked here. */
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
    // Not base64 after all: a client may send anything.
    if (error instanceof DOMException) return null
    throw error
  }
}
