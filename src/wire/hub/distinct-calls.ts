// Calls of a conversation that share an id, told apart: vendors refuse two calls of one id, and calls without any.

import type { ChatRequest, Message, RequestPart, ToolCallPart } from '../ir.ts'

/** What ids made here begin with where the call had none. */
const unnamed = 'call'

/**
 * Each call has an id of its own, and so has its answer. Some vendors count the calls of each reply anew or leave ids
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
  /** Ids that may not be made up. */
  private readonly known: Set<string>
  private readonly used = new Set<string>([''])
  /** Ids given to the calls of one id that wait for their answers, and the last of all that were given for it. */
  private waiting = new Map<string, string[]>()
  private readonly last = new Map<string, string>()
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
    // A turn that was broken off left its calls without answers.
    if (!this.asking) this.waiting = new Map()
    this.asking = true
    return { ...message, parts: parts.map((part) => (isCall(part) ? this.called(part) : part)) }
  }

  private called(part: ToolCallPart): ToolCallPart {
    const id = this.used.has(part.id) ? this.made(part.id) : part.id
    this.used.add(id)
    this.last.set(part.id, id)
    this.waiting.set(part.id, [...(this.waiting.get(part.id) ?? []), id])
    return id === part.id ? part : { ...part, id }
  }

  private made(id: string): string {
    for (let count = 2; ; count++) {
      const made = `${id || unnamed}_${count}`
      if (!this.used.has(made) && !this.known.has(made)) return made
    }
  }

  /** Answers of one id stand in the order of their calls. */
  private answered(id: string): string | undefined {
    return this.waiting.get(id)?.shift() ?? this.last.get(id)
  }
}
