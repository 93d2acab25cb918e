// Realtime sessions: events both ways over one WebSocket. Refusals before it are those of the other interfaces.

import { errorTable, type GatewayError, invalidRequest } from '../../errors.ts'
import { format } from '../dialect.ts'
import { openaiClient, openaiVendor } from '../openai/base.ts'
import { modelPeek, type Peek } from '../request.ts'

export const realtime = format('openai-realtime', {
  client: {
    ...openaiClient,
    path: '/realtime',
    idPrefix: 'event_',
    clientHeaders: ['openai-beta', 'openai-safety-identifier'],
    peek: () => {
      throw invalidRequest('Realtime is served over WebSocket.', null)
    },
  },
  vendor: openaiVendor,
})

const encoder = new TextEncoder()

/** What the gateway must know of a session before it begins: the address says it. */
export function peekRealtime(model: string): Peek {
  return { ...modelPeek(model, encoder.encode('')), stream: true, wantsUsage: true }
}

/** A refusal as the event that clients of sessions get; `eventId` is that of the event at fault. */
export function errorEvent(error: GatewayError, id: string, eventId: string | null): string {
  const { param = null, shownCode } = error.detail
  return JSON.stringify({
    type: 'error',
    event_id: id,
    error: {
      type: errorTable[error.code].type,
      code: shownCode ?? error.code,
      message: error.message,
      param,
      event_id: eventId,
    },
  })
}

/** Ends a response before it is whole; null: whichever runs. */
export function cancelEvent(responseId: string | null): string {
  const type = 'response.cancel'
  return JSON.stringify(responseId === null ? { type } : { type, response_id: responseId })
}
