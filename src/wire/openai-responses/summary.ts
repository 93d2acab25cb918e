// A conversation's summary as the gateway itself makes it: opaque to clients, plain text to whichever model goes on.

import { unwrapOpaque, wrapOpaque } from '../hub/opaque-state.ts'
import type { Message } from '../ir.ts'

const origin = { dialect: 'summary', channel: '' }

/** The `encrypted_content` of a compaction item: encoded so that no client takes it for a text, and no secret. */
export function encodeSummary(text: string): string {
  let bytes = ''
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte)
  const encoded = wrapOpaque(bytes, origin)
  if (encoded === null) throw new Error('bytes are always sealed')
  return encoded
}

/** The summary in such a content; null where a vendor made it, which alone can read it. */
export function summaryIn(content: string): string | null {
  const found = unwrapOpaque(content)
  if (found === null || found.origin.dialect !== origin.dialect) return null
  const bytes = Uint8Array.from(found.value, (char) => char.charCodeAt(0))
  return new TextDecoder().decode(bytes)
}

/** The summary as a model is sent it. */
export function summaryMessage(summary: string): Message {
  const text = `Summary of the conversation so far, which is not repeated here:\n\n${summary}`
  return { role: 'user', parts: [{ type: 'text', text }] }
}
