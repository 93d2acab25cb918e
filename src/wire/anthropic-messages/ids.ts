// Tool call ids: Anthropic allows only letters, digits, `_` and `-`; other vendors use any character.

const allowed = /^[a-zA-Z0-9_-]+$/

/** FNV-1a, 32 bits: distinguishes ids that become equal once their characters are replaced. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return (value >>> 0).toString(36)
}

/** The id if it is allowed, else one derived from it, so that a call and its result still match. */
export function toolId(id: string): string {
  return allowed.test(id) ? id : `${id.replace(/[^a-zA-Z0-9_-]/g, '_')}_${hash(id)}`
}
