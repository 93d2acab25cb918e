// The gateway's own summary of a conversation: opaque to clients, plain text to any model that continues.

import { unwrapOpaque, wrapOpaque } from '../hub/opaque-state.ts'
import type { Message } from '../ir.ts'

const origin = { dialect: 'summary', channel: '' }

/** `encrypted_content` of a compaction item: encoded so that clients do not take it for text; it is not secret. */
export function encodeSummary(text: string): string {
  let bytes = ''
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte)
  const encoded = wrapOpaque(bytes, origin)
  if (encoded === null) throw new Error('bytes can always be encoded')
  return encoded
}

/** The summary in such content; null where a vendor made it, which only that vendor can read. */
export function summaryIn(content: string): string | null {
  const found = unwrapOpaque(content)
  if (found === null || found.origin.dialect !== origin.dialect) return null
  const bytes = Uint8Array.from(found.value, (char) => char.charCodeAt(0))
  return new TextDecoder().decode(bytes)
}

/** The summary as the message that a model gets. */
export function summaryMessage(summary: string): Message {
  const text = `Summary of the conversation so far, which is not repeated here:\n\n${summary}`
  return { role: 'user', parts: [{ type: 'text', text }] }
}
