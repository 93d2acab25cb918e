// Sends a media call through the adapter of a vendor that has one; other vendors are asked in OpenAI's form.

import { resultsOf } from '../../blobs/results.ts'
import type { AttemptHandler, AttemptPlan } from '../../relay/operation.ts'
import { parsedObject } from '../../relay/parsed.ts'
import type { MediaCall } from '../../vendors/media.ts'
import type { Exchange } from '../../vendors/transport.ts'
import { openAdapted } from './adapted.ts'
import { MediaWork } from './tools.ts'

/** Null: the vendor takes the call as it is, without an adapter. */
export function openMedia(plan: AttemptPlan, handler: AttemptHandler): Exchange | null {
  const { rooms, request, channel, candidate, timeouts } = plan
  const { media } = request
  const adapter = channel.vendor.adapters?.[candidate.dialect]
  if (adapter === undefined || media === undefined) return null
  const call: MediaCall = {
    dialect: candidate.dialect,
    model: candidate.model,
    fields: parsedObject(request.peek.body),
    uploads: media.uploads,
    stream: request.peek.stream,
  }
  if (adapter.adapts?.(call) === false) return null
  const { connectMs, sendIdleMs } = timeouts
  const dialect = rooms.dialects[candidate.dialect]
  const work = new MediaWork({ rooms, request, channel, dialect, connectMs, sendIdleMs })
  const writing = {
    results: resultsOf(rooms.results, request.origin ?? '', work.from),
    spool: media.spool,
    account: request.principal.account,
    createdAt: Math.floor(request.at / 1000),
  }
  return openAdapted({ adapter, call, work, rooms: writing }, handler)
}
