// Arranges messages for formats with rules on turns: system text at the beginning, or one message for each turn.

import type { Message, RequestPart } from '../ir.ts'

/** The text of a user turn where the format demands one and the client said nothing. */
export const noText = '.'

/** A message with its index in the client's request, which error texts and `dropped` name. */
export interface Placed {
  readonly index: number
  readonly message: Message
}

interface Turns {
  /** The system and developer messages that precede all others. */
  readonly system: readonly Placed[]
  /** The other messages in the client's order, with roles user, assistant and tool. */
  readonly rest: readonly Placed[]
}

/**
 * A later system message becomes a user's, in its place: such formats refuse it there, and at the front it would mean
 * something else. Its role goes to `dropped`.
 */
export function turnsOf(messages: readonly Message[], dropped: string[]): Turns {
  const system: Placed[] = []
  const rest: Placed[] = []
  for (const [index, message] of messages.entries()) {
    const { role } = message
    if (role !== 'system' && role !== 'developer') rest.push({ index, message })
    else if (rest.length === 0) system.push({ index, message })
    else {
      dropped.push(`messages[${index}].role`)
      rest.push({ index, message: { ...message, role: 'user' } })
    }
  }
  return { system, rest }
}

/** Joins consecutive messages of the assistant to the first of them, where `joins` says so of that one. */
export function withTurnsJoined(
  messages: readonly Placed[],
  joins: (first: Message) => boolean = () => true,
): Placed[] {
  const found: Placed[] = []
  /** Of the last message: whether others join it, and its parts where one did. */
  let isOpen = false
  let parts: RequestPart[] | null = null
  for (const placed of messages) {
    const { message } = placed
    const last = found.at(-1)
    if (last === undefined || !isOpen || message.role !== 'assistant') {
      found.push(placed)
      isOpen = message.role === 'assistant' && joins(message)
      parts = null
      continue
    }
    if (parts === null) {
      parts = [...last.message.parts]
      found[found.length - 1] = { index: last.index, message: { ...last.message, parts } }
    }
    for (const part of message.parts) parts.push(part)
  }
  return found
}
