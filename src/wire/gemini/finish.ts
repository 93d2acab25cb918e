// Why a candidate ended: Google's words into the hub's, and back.

import type { FinishReason } from '../ir.ts'

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // Gemini 4: the request's cap was met while budget remains.
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

/** The model failed: there is no answer that could be taken for one. */
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
 * A `finishReason` (API reference, `FinishReason`); `called`: some call was made, which Google ends with STOP too. A word
 * nobody documented is an ordinary stop.
 */
export function readFinish(word: string, called: boolean): FinishReason | 'trouble' {
  if (troubles.has(word)) return 'trouble'
  const reason = reasons.get(word) ?? 'stop'
  // The stand-in of a mock for Google, which says so of calls.
  return called && reason === 'stop' ? 'tool_calls' : reason
}

export function writeFinish(reason: FinishReason): string {
  if (reason === 'length') return 'MAX_TOKENS'
  return reason === 'content_filter' ? 'SAFETY' : 'STOP'
}
