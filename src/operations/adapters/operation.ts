// How requests for images, sound and films are relayed: as forms, by adapters of vendors of other ways, and as raw bytes.

import type { TimeoutSettings } from '../../config/types.ts'
import type { AttemptPlan, EncodedRequest, RelayOperation } from '../../relay/operation.ts'
import type { PathListener, ReplyPath } from '../../relay/path.ts'
import type { Peek } from '../../wire/request.ts'
import { formOf } from './form.ts'
import { openMedia } from './open.ts'
import { mediaTypeOf, RawReply } from './raw.ts'
import { Replayed } from './replayed.ts'

/** What was made is asked for all the same: an image, a film or a minute of sound is not made twice. */
export const mediaRelay: RelayOperation = {
  isCostly: true,
  encode: encodedForm,
  send: openMedia,
  path: mediaPath,
}

/** An image takes a minute or more, and nothing is heard of it meanwhile. */
export const imageRelay: RelayOperation = {
  ...mediaRelay,
  timeouts: (general: TimeoutSettings) => ({
    ...general,
    firstEventMs: Math.max(general.firstEventMs, general.semanticIdleMs),
    idleMs: Math.max(general.idleMs, general.semanticIdleMs),
  }),
}

/** What came as a form goes on as one. */
function encodedForm({ request, candidate }: AttemptPlan, own: Peek | null): EncodedRequest | null {
  const { media, dialect } = request
  if (own === null || media?.isForm !== true) return null
  return { ...formOf(dialect, own.body, media.uploads, candidate.model), dropped: [] }
}

function mediaPath(
  { request }: AttemptPlan,
  type: string,
  listener: PathListener,
): ReplyPath | null {
  const { dialect, peek } = request
  const bare = mediaTypeOf(type)
  const replay = peek.stream ? dialect.media?.replay(peek, bare) : undefined
  if (replay !== undefined) return new Replayed(replay, listener)
  return dialect.media?.isRaw(bare) === true ? new RawReply(request, type, listener) : null
}
