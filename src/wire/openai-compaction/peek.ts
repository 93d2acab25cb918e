// Judges a request to compact a conversation: a Responses request that is answered whole.

import { invalidRequest } from '../../errors.ts'
import { peekResponses } from '../openai-responses/peek.ts'
import type { Peek } from '../request.ts'

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekCompaction(body: Uint8Array): Peek {
  const peek = peekResponses(body)
  if (peek.stream) throw invalidRequest('stream: a compaction is given whole', 'stream')
  // No bound that is said for an answer is one for a summary.
  return { ...peek, maxOutputTokens: null }
}
