// Ids of tool calls: Anthropic takes letters, digits, `_` and `-` alone, other vendors put anything into them.

const allowed = /^[a-zA-Z0-9_-]+$/

/** FNV-1a, 32 bits: tells apart what looks alike once its characters are replaced. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return (value >>> 0).toString(36)
}

/** The id where it may stand, else one that is always made of it: a call and its result go on agreeing. */
export function toolId(id: string): string {
  return allowed.test(id) ? id : `${id.replace(/[^a-zA-Z0-9_-]/g, '_')}_${hash(id)}`
}
