// Translates the server's reason why a channel is not used.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Shape } from '../api/client.ts'

type Reason = NonNullable<Shape<'Channel'>['reason']>

const words: Readonly<Record<Reason, MessageDescriptor>> = {
  breaker: msg`it failed too often lately`,
  rate_limited: msg`its vendor limits its rate`,
  quota: msg`its credit at the vendor is used up`,
  credentials: msg`its vendor refuses the key`,
  busy: msg`as much is under way as it may have`,
  failing: msg`it failed lately`,
}

/** A reason that this console does not know is shown unchanged. */
export function reasonText(reason: string, t: (word: MessageDescriptor) => string): string {
  return Object.hasOwn(words, reason) ? t(words[reason as Reason]) : reason
}
