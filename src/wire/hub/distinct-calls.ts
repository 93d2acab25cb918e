// Gives each tool call its own id: vendors refuse a conversation, and clients a reply, in which two calls share one.

import type { ChatEvent, ChatRequest, Message, RequestPart, ToolCallPart } from '../ir.ts'

/** The beginning of the id of a call that had none. */
const unnamed = 'call'

/**
 * Renames calls that share an id, and their results. Some vendors number the calls of each reply from 0 or leave ids
 * out, and clients bring such a history to another model.
 */
export function withDistinctCalls(request: ChatRequest): ChatRequest {
  const ids = request.messages.flatMap(({ parts }) => parts.filter(isCall).map(({ id }) => id))
  if (new Set(ids).size === ids.length && !ids.includes('')) return request
  const names = new CallNames(ids)
  return { ...request, messages: request.messages.map((message) => names.given(message)) }
}

function isCall(part: RequestPart): part is ToolCallPart {
  return part.type === 'tool-call'
}

class CallNames {
  /** Ids of the conversation, which a new id must not repeat. */
  private readonly known: Set<string>
  private readonly used = new Set<string>([''])
  /** Ids given to the calls of one id that wait for their answers, and the last of all that were given for it. */
  private waiting = new Map<string, string[]>()
  private readonly last = new Map<string, string>()
  /** The last number given to a repeat of an id, so that many repeats take no longer each. */
  private readonly numbers = new Map<string, number>()
  private asking = false

  constructor(ids: readonly string[]) {
    this.known = new Set(ids)
  }

  given(message: Message): Message {
    const { role, parts, callId } = message
    if (role === 'tool') {
      this.asking = false
      const id = callId === undefined ? undefined : this.answered(callId)
      return id === undefined ? message : { ...message, callId: id }
    }
    if (role !== 'assistant') {
      this.asking = false
      return message
    }
    // Calls of an earlier turn that got no result before this one never will.
    if (!this.asking) this.waiting = new Map()
    this.asking = true
    return { ...message, parts: parts.map((part) => (isCall(part) ? this.called(part) : part)) }
  }

  private called(part: ToolCallPart): ToolCallPart {
    const id = this.used.has(part.id) ? this.made(part.id) : part.id
    this.used.add(id)
    this.last.set(part.id, id)
    const waiting = this.waiting.get(part.id)
    if (waiting === undefined) this.waiting.set(part.id, [id])
    else waiting.push(id)
    return id === part.id ? part : { ...part, id }
  }

  private made(id: string): string {
    for (let count = (this.numbers.get(id) ?? 1) + 1; ; count++) {
      const made = `${id || unnamed}_${count}`
      if (this.used.has(made) || this.known.has(made)) continue
      this.numbers.set(id, count)
      return made
    }
  }

  /** Results with the same id belong to the calls in their order. */
  private answered(id: string): string | undefined {
    return this.waiting.get(id)?.shift() ?? this.last.get(id)
  }
}

/** Renames calls of one reply that repeat the id of a call before: official clients of Responses fail at these. */
export class DistinctCalls {
  /** The ids in use, each with the last number given to a repeat of it, so that many repeats take no longer each. */
  private readonly numbers = new Map<string, number>()

  event(event: ChatEvent): ChatEvent {
    if (event.type !== 'part-start' || event.head.type !== 'tool-call') return event
    const { choice, head } = event
    const keyOf = (id: string) => `${choice} ${id}`
    let { id } = head
    let number = this.numbers.get(keyOf(id)) ?? 1
    while (this.numbers.has(keyOf(id))) id = `${head.id}_${++number}`
    this.numbers.set(keyOf(head.id), number)
    if (id !== head.id) this.numbers.set(keyOf(id), 1)
    return id === head.id ? event : { ...event, head: { ...head, id } }
  }
}
