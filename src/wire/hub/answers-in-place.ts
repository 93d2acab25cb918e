// Moves the results of tool calls behind the turn that made the calls: most formats require it, Responses does not.

import type { ChatRequest, Message } from '../ir.ts'

/** Requires calls with distinct ids. A result without a call stays where it is. */
export function withAnswersInPlace(request: ChatRequest): ChatRequest {
  const { messages } = request
  const moved = new Map<number, Message[]>()
  const made = new Map<string, number>()
  const kept = new Set(messages)
  /** The index of the last message that is neither of the assistant nor a result. */
  let parted = -1
  for (const [at, message] of messages.entries()) {
    const { role, callId = '' } = message
    if (role === 'assistant') {
      for (const part of message.parts) if (part.type === 'tool-call') made.set(part.id, at)
    } else if (role !== 'tool') parted = at
    const place = role === 'tool' ? made.get(callId) : undefined
    if (place === undefined || place > parted) continue
    kept.delete(message)
    moved.set(place, [...(moved.get(place) ?? []), message])
  }
  if (moved.size === 0) return request
  const placed = messages.flatMap((message, at) =>
    kept.has(message) ? [message, ...(moved.get(at) ?? [])] : [],
  )
  return { ...request, messages: placed }
}
