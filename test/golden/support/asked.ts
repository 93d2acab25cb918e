// Builds the cases of requests.

import type { ChatRequest, Message, RequestPart } from '../../../src/wire/ir.ts'

/** The fields that a case sets; the others have the usual values. */
export type Asked = Partial<ChatRequest>

export function text(words: string): RequestPart {
  return { type: 'text', text: words }
}

export function said(role: Message['role'], ...texts: string[]): Message {
  return { role, parts: texts.map(text) }
}

export const hello: Message = said('user', 'Hello')
