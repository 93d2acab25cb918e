// Errors inside a stream of the Responses format: an event of its own, and a response that failed.

import { errorTable, type GatewayError } from '../../errors.ts'
import type { JsonObject } from '../ir.ts'
import { bodyOf } from './hub-body.ts'

export function frameOf(type: string, sequence: number, fields: JsonObject): string {
  const data = JSON.stringify({ type, sequence_number: sequence, ...fields })
  return `event: ${type}\ndata: ${data}\n\n`
}

/** OpenAI's words for a response's own error; any other code of this gateway is none of them. */
const responseCodes: ReadonlySet<string> = new Set(['server_error', 'rate_limit_exceeded'])

/**
 * The frames that end a stream in an error. The specification shows the event flat, and OpenAI sends it nested: it is
 * both. `response` is the response as far as it came, `sequence` the number of the next event.
 */
export function failFrames(error: GatewayError, response: JsonObject, sequence: number): string {
  const { param = null, shownCode } = error.detail
  const { message } = error
  const code = shownCode ?? error.code
  const { type } = errorTable[error.code]
  const known = shownCode !== undefined || responseCodes.has(code) || type === 'insufficient_quota'
  const failed = {
    ...response,
    status: 'failed',
    error: { code: known ? code : 'server_error', message },
  }
  return (
    frameOf('error', sequence, { code, message, param, error: { type, code, message, param } }) +
    frameOf('response.failed', sequence + 1, { response: failed })
  )
}

/** The same for a stream in which nothing was said yet. */
export function errorFrames(error: GatewayError, requestId: string): string {
  const id = `resp_${requestId.slice('req_'.length)}`
  return failFrames(error, bodyOf({ id, model: '', createdAt: 0 }, {}, {}), 0)
}
