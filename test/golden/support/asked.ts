// What the cases of requests are made of.

import type { ChatRequest, Message, RequestPart } from '../../../src/wire/ir.ts'

/** What a case says of a request; the rest is as in any other. */
export type Asked = Partial<ChatRequest>

export function text(words: string): RequestPart {
  return { type: 'text', text: words }
}

export function said(role: Message['role'], ...texts: string[]): Message {
  return { role, parts: texts.map(text) }
}

export const hello: Message = said('user', 'Hello')
