// Maps a candidate's finish reason between Google's words and the hub's.

import type { FinishReason } from '../ir.ts'

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // Gemini 4: the request's limit was reached while budget remains.
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
])

/** The model failed: there is no usable answer. */
const troubles: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'NO_IMAGE',
  'IMAGE_OTHER',
  'OTHER',
])

/**
 * Reads `finishReason` (API reference, `FinishReason`); `called`: the candidate has a call, which Google also ends
 * with STOP. An undocumented word counts as an ordinary stop.
 */
export function readFinish(word: string, called: boolean): FinishReason | 'trouble' {
  if (troubles.has(word)) return 'trouble'
  const reason = reasons.get(word) ?? 'stop'
  // Google ends calls with STOP; a mock of its API uses another word for them, which reads as `stop` too.
  return called && reason === 'stop' ? 'tool_calls' : reason
}

export function writeFinish(reason: FinishReason): string {
  if (reason === 'length') return 'MAX_TOKENS'
  return reason === 'content_filter' ? 'SAFETY' : 'STOP'
}
