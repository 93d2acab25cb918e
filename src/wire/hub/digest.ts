// A short hash of a text, for ids that must differ and need not be secret.

/** A 32-bit hash of a text, in base 36 (FNV-1a). */
export function digest(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return (hash >>> 0).toString(36)
}
