// Answers of calls put behind the turn that made the calls, where most formats demand them; Responses take them anywhere.

import type { ChatRequest, Message } from '../ir.ts'

/** Calls have ids of their own. An answer whose call is not there stays where it is. */
export function withAnswersInPlace(request: ChatRequest): ChatRequest {
  const { messages } = request
  const moved = new Map<number, Message[]>()
  const made = new Map<string, number>()
  const kept = new Set(messages)
  /** Where somebody else spoke last. */
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
