// Opaque state of calls and texts in a format that has a place for it on reasoning alone.

import type { RequestPart } from '../ir.ts'

const ofCall = 'tool-call:'
const ofText = 'text:'

/** The `encrypted_content` of a reasoning item that carries the opaque state of a call or of the text before it. */
export function carried(sealed: string, callId: string | null): string {
  return callId === null ? `${ofText}${sealed}` : `${ofCall}${callId}:${sealed}`
}

/** Which part's opaque state it is; null where it is reasoning's own. `callId` is null for a text's. */
export function carriedBy(
  content: string,
): { readonly sealed: string; readonly callId: string | null } | null {
  if (content.startsWith(ofText)) return { sealed: content.slice(ofText.length), callId: null }
  if (!content.startsWith(ofCall)) return null
  // Ids may hold colons; opaque state is base64.
  const end = content.lastIndexOf(':')
  return { callId: content.slice(ofCall.length, end), sealed: content.slice(end + 1) }
}

/** The parts with the opaque state back where it belongs; null where there is no such part among them. */
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
