// Carries opaque state of calls and texts in a format that has a member for it on reasoning alone.

import type { RequestPart } from '../ir.ts'

const ofCall = 'tool-call:'
const ofText = 'text:'

/** `encrypted_content` of a reasoning item that carries the opaque state of a call, or of the text before the item. */
export function carried(sealed: string, callId: string | null): string {
  return callId === null ? `${ofText}${sealed}` : `${ofCall}${callId}:${sealed}`
}

/** The part to which the opaque state belongs; null for reasoning's own. `callId` is null for a text. */
export function carriedBy(
  content: string,
): { readonly sealed: string; readonly callId: string | null } | null {
  if (content.startsWith(ofText)) return { sealed: content.slice(ofText.length), callId: null }
  if (!content.startsWith(ofCall)) return null
  // Ids may contain colons; opaque state is base64.
  const end = content.lastIndexOf(':')
  return { callId: content.slice(ofCall.length, end), sealed: content.slice(end + 1) }
}

/** The parts with the opaque state back on its part; null where that part is not among them. */
export function withOpaque(
  parts: readonly RequestPart[],
  { sealed, callId }: { readonly sealed: string; readonly callId: string | null },
): RequestPart[] | null {
  const at = parts.findLastIndex((part) =>
    callId === null ? part.type === 'text' : part.type === 'tool-call' && part.id === callId,
  )
  const part = parts[at]
  if (part?.type !== 'text' && part?.type !== 'tool-call') return null
  return parts.with(at, { ...part, sealed })
}
