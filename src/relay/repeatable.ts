// Whether a request of which nobody knows what came of it may be sent again.

import type { DialCall } from '../upstream/connection.ts'
import type { Operation } from '../wire/formats.ts'
import type { RelayRequest, RelayRooms } from './request.ts'

/** What is dear to do twice: an image, a video or a minute of sound may have been made, and be asked for, all the same. */
const costly: ReadonlySet<Operation> = new Set([
  'image',
  'transcription',
  'translation',
  'speech',
  'video',
])

export function mayRepeat({ retry }: RelayRooms, { dialect }: RelayRequest): boolean {
  return retry.retryUncertain && !costly.has(dialect.operation)
}

/** How such a request deals with a connection that is kept open. */
export function onKept(rooms: RelayRooms, request: RelayRequest): DialCall['onKept'] {
  if (costly.has(request.dialect.operation)) return 'avoid'
  return mayRepeat(rooms, request) ? 'resend' : 'fail'
}
