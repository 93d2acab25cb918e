// Carries opaque state of calls and texts in a format that has a member for it on reasoning alone.

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
