// Makes ids for calls without one, from the content of the reply, so that they are recognised when sent back.

const prefix = 'call_gem_'

/** A 32-bit hash of a text, in base 36 (FNV-1a). */
function digest(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return (hash >>> 0).toString(36)
}

/** `origin`: the reply's id, or whatever else distinguishes the reply. */
export function madeId(origin: string, choice: number, ordinal: number): string {
  const tail = origin.replace(/[^a-zA-Z0-9]/g, '').slice(-16)
  return `${prefix}${tail}${digest(origin)}_${choice}_${ordinal}`
}

export function isMadeId(id: string): boolean {
  return id.startsWith(prefix)
}
