// The Responses operations: add the stored conversation to a request, store its reply, and run it in the background.

import type { Authorization } from '../../billing/authorization.ts'
import { Call } from '../../relay/call.ts'
import type { RelayRooms } from '../../relay/request.ts'
import {
  type AdmittedRequest,
  type Hook,
  type Operation,
  slotWithoutClient,
  type Work,
} from '../operation.ts'
import { checkVision } from '../resolve.ts'
import type { Background } from './background.ts'
import { prepareCompaction } from './compact.ts'
import { follow } from './live.ts'
import { prepareResponse, type Queued, type ResponseRooms } from './request.ts'

export interface ResponseServices extends ResponseRooms {
  readonly background: Background
}

interface WithResponses {
  readonly responses: ResponseServices
}

function kept(prepare: typeof prepareResponse): Hook<WithResponses> {
  return {
    async before(request, { responses, relay }) {
      const { requestId, at, dialect, peek, candidates, model, principal } = request
      const { account } = principal
      const asking = { account, requestId, at, dialect, peek, candidates }
      const prepared = await prepare(responses, asking)
      const { rebuilt, background, transform } = prepared
      if (rebuilt) checkVision(prepared.peek, model)
      return {
        request: { ...request, peek: prepared.peek, rebuilt },
        ...(transform !== null && { transform }),
        ...(background !== null && { relay: inBackground(background, responses, relay) }),
      }
    },
  }
}

/** The client gets its answer before the work begins, and may leave. */
function inBackground(
  queued: Queued,
  { keeper, background, heartbeatMs }: ResponseServices,
  relay: RelayRooms,
) {
  return async (request: AdmittedRequest, authorization: Authorization): Promise<Work> => {
    await keeper.change({ kind: 'keep', row: queued.row })
    const clientSlot = slotWithoutClient(request.clientSlot)
    const call = new Call(relay, { ...request, clientSlot, authorization })
    return {
      clientGone: () => undefined,
      async run() {
        const live = background.start(queued, call)
        const { heartbeat } = request.dialect.client
        return request.peek.stream
          ? { body: follow(live, { after: -1, heartbeat, heartbeatMs }), stream: true }
          : { body: JSON.stringify({ ...queued.response, status: 'queued' }) }
      },
    }
  }
}

export const responses: Operation<WithResponses> = {
  dialect: 'openai-responses',
  hooks: [kept(prepareResponse)],
}

export const compaction: Operation<WithResponses> = {
  dialect: 'openai-compaction',
  hooks: [kept(prepareCompaction)],
}
