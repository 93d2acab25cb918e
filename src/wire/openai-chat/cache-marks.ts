// Writes cache marks into chats for the vendors that read Anthropic's `cache_control` in this format.

import type { CacheMark, ChatRequest, JsonObject, RequestPart } from '../ir.ts'
import { ownFields } from './hub-fields.ts'

/**
 * The request with its marks as members of its parts; `longest`: how long the vendor keeps a prompt. Calls have no
 * place for one, and tools need none: they come before all messages, so that the next mark covers them.
 */
export function withCacheMarks(request: ChatRequest, longest: CacheMark['ttl']): ChatRequest {
  const marked = (part: RequestPart): RequestPart => {
    if (part.type === 'tool-call' || part.cache === undefined) return part
    const own = ownFields(part.extra)
    if (own['cache_control'] !== undefined) return part
    const control: JsonObject = { type: 'ephemeral' }
    if (part.cache.ttl === '1h' && longest === '1h') control['ttl'] = '1h'
    return { ...part, extra: { ...part.extra, 'openai-chat': { ...own, cache_control: control } } }
  }
  const messages = request.messages.map((message) => ({
    ...message,
    parts: message.parts.map(marked),
  }))
  return { ...request, messages }
}
