// Moves pictures that a model made to the user's side, for vendors that take pictures from users alone.

import type { ChatRequest, Message, RequestPart } from '../ir.ts'

/**
 * Adds the pictures of assistant messages to the user's next message, or to a last one; else a conversation with a
 * picture in it could not go on with such a vendor. Pictures that only `format` has in this form stay.
 */
export function withPicturesAsked(request: ChatRequest, format: string): ChatRequest {
  const isMoved = (part: RequestPart): boolean =>
    part.type === 'image' && part.extra?.[format] === undefined
  const isSaid = ({ role, parts }: Message): boolean => role === 'assistant' && parts.some(isMoved)
  if (!request.messages.some(isSaid)) return request
  let waiting: RequestPart[] = []
  const messages = request.messages.flatMap((message): Message[] => {
    const { role, parts, native } = message
    if (isSaid(message)) {
      waiting.push(...parts.filter(isMoved))
      const rest = parts.filter((part) => !isMoved(part))
      return rest.length === 0 ? [] : [{ ...message, parts: rest }]
    }
    // A message in a format's own form is sent as it is.
    if (role !== 'user' || native !== undefined || waiting.length === 0) return [message]
    const shown = [...parts, ...waiting]
    waiting = []
    return [{ ...message, parts: shown }]
  })
  if (waiting.length > 0) messages.push({ role: 'user', parts: waiting })
  return { ...request, messages }
}
