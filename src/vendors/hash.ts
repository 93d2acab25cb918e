// Short deterministic hashes of texts, for identifiers and never for secrets.

/** FNV-1a over UTF-16 units, 32 bits: enough to distinguish the texts of one request. */
export function hash(text: string, seed = 0x811c9dc5): number {
  let value = seed
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  return value >>> 0
}

/** The most characters of a text that are hashed; the length, which is hashed too, distinguishes longer ones. */
const identifiedLength = 2_000

/** An identifier of 16 hexadecimal digits that depends only on the text. */
export function identifier(text: string): string {
  const start = text.slice(0, identifiedLength)
  const first = hash(start, text.length)
  const second = hash(start, first ^ 0x9e3779b9)
  return first.toString(16).padStart(8, '0') + second.toString(16).padStart(8, '0')
}
