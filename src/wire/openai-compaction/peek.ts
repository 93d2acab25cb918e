// Validates a compaction request: a Responses request that cannot be streamed.

import { invalidRequest } from '../../errors.ts'
import { peekResponses } from '../openai-responses/peek.ts'
import type { Peek } from '../request.ts'

/** Throws GatewayError `invalid_request_error` naming the field at fault. */
export function peekCompaction(body: Uint8Array): Peek {
  const peek = peekResponses(body)
  if (peek.stream) throw invalidRequest('stream: a compaction cannot be streamed', 'stream')
  // The output limit of a response is not meant for its summary.
  return { ...peek, maxOutputTokens: null }
}
