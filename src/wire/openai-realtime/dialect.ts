// Assembles the realtime dialect: events both ways over one WebSocket; errors before it opens are OpenAI's usual ones.

import { errorTable, type GatewayError, invalidRequest } from '../../errors.ts'
import { format } from '../dialect.ts'
import { openaiClient, openaiVendor } from '../openai/base.ts'
import { modelPeek, type Peek } from '../request.ts'

export const realtime = format('openai-realtime', {
  client: {
    ...openaiClient,
    path: '/realtime',
    method: 'GET',
    idPrefix: 'event_',
    clientHeaders: ['openai-beta', 'openai-safety-identifier'],
    peek: () => {
      throw invalidRequest('Realtime is served over WebSocket.', null)
    },
  },
  vendor: openaiVendor,
})

const encoder = new TextEncoder()

/** The peek of a session before it starts; only the URL's model is known. */
export function peekRealtime(model: string): Peek {
  return { ...modelPeek(model, encoder.encode('')), stream: true, wantsUsage: true }
}

/** The error as an event for clients of a session; `eventId` is that of the client's faulty event. */
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

/** The event that cancels a response; null: whichever one is in progress. */
export function cancelEvent(responseId: string | null): string {
  const type = 'response.cancel'
  return JSON.stringify(responseId === null ? { type } : { type, response_id: responseId })
}
