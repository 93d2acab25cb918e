// How requests for images, audio and video are relayed: as forms, through vendors' adapters, and as raw bytes.

import type { TimeoutSettings } from '../../config/types.ts'
import type { AttemptPlan, EncodedRequest, RelayOperation } from '../../relay/operation.ts'
import type { PathListener, ReplyPath } from '../../relay/path.ts'
import type { Peek } from '../../wire/request.ts'
import { formOf } from './form.ts'
import { openMedia } from './open.ts'
import { mediaTypeOf, RawReply } from './raw.ts'
import { Replayed } from './replayed.ts'

/** Costly: the vendor charges for an image, a video or a minute of audio even if it is lost, so none is made twice. */
export const mediaRelay: RelayOperation = {
  isCostly: true,
  encode: encodedForm,
  send: openMedia,
  path: mediaPath,
}

/** An image takes a minute or more, during which the vendor sends nothing. */
export const imageRelay: RelayOperation = {
  ...mediaRelay,
  timeouts: (general: TimeoutSettings) => ({
    ...general,
    firstEventMs: Math.max(general.firstEventMs, general.semanticIdleMs),
    idleMs: Math.max(general.idleMs, general.semanticIdleMs),
  }),
}

/** A request that was a form is sent as one. */
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
  const { media } = dialect
  const events = peek.stream ? media?.replay(peek, bare) : undefined
  if (events !== undefined) return new Replayed(events, listener)
  const plain = media?.plain?.(peek, bare) ?? null
  if (plain !== null) return new Replayed(plain, listener)
  return media?.isRaw(bare) === true ? new RawReply(request, type, listener) : null
}
