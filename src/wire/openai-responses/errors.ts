// Writes errors inside a Responses stream: as an `error` event and as a failed response.

import { errorTable, type GatewayError } from '../../errors.ts'
import type { JsonObject } from '../ir.ts'
import { bodyOf } from './hub-body.ts'

export function frameOf(type: string, sequence: number, fields: JsonObject): string {
  const data = JSON.stringify({ type, sequence_number: sequence, ...fields })
  return `event: ${type}\ndata: ${data}\n\n`
}

/** Codes that OpenAI uses in a response's own error; the gateway's other codes are not among them. */
const responseCodes: ReadonlySet<string> = new Set(['server_error', 'rate_limit_exceeded'])

/**
 * The frames that end a stream with an error. The specification shows the event's members flat and OpenAI nests them,
 * so that both forms are written. `response` is the response so far, `sequence` the number of the next event.
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

/** The same for a stream that has not sent anything yet. */
export function errorFrames(error: GatewayError, requestId: string): string {
  const id = `resp_${requestId.slice('req_'.length)}`
  return failFrames(error, bodyOf({ id, model: '', createdAt: 0 }, {}, {}), 0)
}
