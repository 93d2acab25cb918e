// The messages of a chat for formats that keep the system's text apart and take it at the beginning alone.

import type { Message } from '../ir.ts'

/** A message with its place in the request, by which clients know it. */
export interface Placed {
  readonly index: number
  readonly message: Message
}

interface Turns {
  /** System and developer messages before all others. */
  readonly system: readonly Placed[]
  /** The rest in the client's order: user, assistant and tool. */
  readonly rest: readonly Placed[]
}

/**
 * A system message further down is said as the user's, in its place: such formats refuse it elsewhere, and moved to the
 * front it would mean something else. Its role goes to `dropped`, and so do the names of speakers, which such formats lack.
 */
export function turnsOf(messages: readonly Message[], dropped: string[]): Turns {
  const system: Placed[] = []
  const rest: Placed[] = []
  for (const [index, message] of messages.entries()) {
    const { role, extra = {} } = message
    const named = Object.values(extra).some((fields) => fields['name'] !== undefined)
    if (named) dropped.push(`messages[${index}].name`)
    if (role !== 'system' && role !== 'developer') rest.push({ index, message })
    else if (rest.length === 0) system.push({ index, message })
    else {
      dropped.push(`messages[${index}].role`)
      rest.push({ index, message: { ...message, role: 'user' } })
    }
  }
  return { system, rest }
}
