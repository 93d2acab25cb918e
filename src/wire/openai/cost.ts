// Adds the cost of a reply to its usage, as `usage.cost`.

import { JsonSyntaxError, members, skipSpace } from '../json/scan.ts'
import { join, splice } from '../json/splice.ts'

const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * A whole reply, or one stream frame, with the cost (a decimal) in its usage (the member `name`), in place of a
 * vendor's own `cost`; unchanged where it has no usage object.
 */
export function withCost(bytes: Uint8Array, cost: string, name = 'usage'): Uint8Array {
  const start = bytes.indexOf(openBrace)
  if (start === -1) return bytes
  try {
    const usage = members(bytes, start).find(({ key }) => key === name)
    if (usage?.kind !== 'object') return bytes
    const text = JSON.stringify(cost)
    const present = members(bytes, usage.start).find(({ key }) => key === 'cost')
    if (present !== undefined) {
      return join(splice(bytes, [{ start: present.start, end: present.end, text }]))
    }
    const inside = usage.start + 1
    const comma = bytes[skipSpace(bytes, inside)] === closeBrace ? '' : ','
    return join(splice(bytes, [{ start: inside, end: inside, text: `"cost":${text}${comma}` }]))
  } catch (error) {
    if (error instanceof JsonSyntaxError) return bytes
    throw error
  }
}
